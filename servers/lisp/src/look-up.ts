/**
 * Finds packages and symbols by name (find-package, find-symbol). Swank's own look-ups pass a package name to the Lisp
 * reader, which would evaluate `#.(…)` in it and intern every name.
 */

import type { Sexp } from './sexp.ts'
import { isSym, lisp } from './sexp.ts'

/** The package with this name, as written or in upper case, with or without the `:` or `#:` of a designator; or nil. */
const findPackage = (name: Sexp): Sexp =>
  lisp`(cl:or (cl:find-package ${name}) (cl:find-package (cl:string-upcase (cl:string-left-trim "#:" ${name}))))`

/** Runs a form in this package. The value is `:sluice-no-package` if it does not exist. */
export const inPackage = (name: string, form: Sexp): Sexp => lisp`
  (cl:let ((sluice-package ${findPackage(name)}))
    (cl:if sluice-package
      (cl:let ((swank::*buffer-package* sluice-package)
               (swank::*buffer-readtable* (swank::guess-buffer-readtable (cl:package-name sluice-package))))
        ${form})
      :sluice-no-package))`
export const isMissingPackage = (value: Sexp): boolean => isSym(value, ':sluice-no-package')

/** Binds `sluice-symbol` for a form. The value is `:sluice-no-symbol` if no symbol has this name. */
export const withSymbol = (name: string, form: Sexp): Sexp => lisp`
  (swank::with-buffer-syntax ()
    (cl:multiple-value-bind (sluice-symbol sluice-status) (swank::parse-symbol ${name})
      (cl:if sluice-status ${form} :sluice-no-symbol)))`
export const isMissingSymbol = (value: Sexp): boolean => isSym(value, ':sluice-no-symbol')

/** Lists the symbols with a prefix, such as "map" or "my-package:th", as strings. */
export const completionsForm = (prefix: string): Sexp => lisp`
  (swank::with-buffer-syntax ()
    (cl:multiple-value-bind (sluice-name sluice-home sluice-internal) (swank::tokenize-symbol ${prefix})
      (cl:let ((sluice-package (cl:cond ((cl:null sluice-home) cl:*package*)
                                        ((cl:string= sluice-home "") (cl:find-package "KEYWORD"))
                                        (t ${findPackage(lisp`sluice-home`)}))))
        (swank::format-completion-set
          (cl:and sluice-package
            (cl:remove-if-not
              (cl:lambda (sluice-each) (swank::prefix-match-p sluice-name sluice-each))
              (cl:mapcar (cl:function swank::unparse-symbol)
                (swank::matching-symbols sluice-package (cl:and sluice-home (cl:not sluice-internal))
                  (cl:lambda (sluice-each) (swank::prefix-match-p sluice-name (cl:symbol-name sluice-each)))))))
          sluice-internal sluice-home))))`
