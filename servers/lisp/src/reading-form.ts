/**
 * Builds the form that runs a reading expression. Every name of the caller is a string in it, which `find-symbol` looks
 * up; only names of our table become symbols of the form.
 */

import { fail } from 'sluice'
import type { Expression } from './reading.ts'
import { operatorOf } from './reading.ts'
import { shortened } from './session.ts'
import type { Sexp } from './sexp.ts'
import { isSym, lisp, listOf, sym, textOf } from './sexp.ts'

/** The value of the form is `(:values text …)`, or a reason with a name. */
export function readingForm(expression: Expression, allowed: ReadonlySet<string>): Sexp {
  const used = new Map<string, string>()
  const body = translate(expression, allowed, used)
  const checks = [...used].map(
    ([written, name]) => lisp`
      (cl:unless (cl:eq (sluice-find ${written}) (cl:find-symbol ${name.toUpperCase()} "COMMON-LISP"))
        (cl:return-from sluice-read (cl:list :shadowed ${written})))`,
  )
  return lisp`
    (cl:block sluice-read
      (swank::with-buffer-syntax ()
        (cl:flet ((sluice-find (sluice-name)
                    (cl:multiple-value-bind (sluice-symbol sluice-status) (swank::parse-symbol sluice-name)
                      (cl:if sluice-status sluice-symbol (cl:return-from sluice-read (cl:list :missing sluice-name))))))
          (cl:flet ((sluice-value (sluice-name)
                      (cl:let ((sluice-symbol (sluice-find sluice-name)))
                        (cl:if (cl:boundp sluice-symbol)
                          (cl:symbol-value sluice-symbol)
                          (cl:return-from sluice-read (cl:list :unbound sluice-name))))))
            (cl:declare (cl:ignorable (cl:function sluice-value)))
            ${[sym('cl:progn'), ...checks]}
            (cl:handler-case
              (cl:cons :values (cl:mapcar (cl:lambda (sluice-each) ${shortened(lisp`(cl:funcall ${printer} sluice-each)`)})
                                          (cl:multiple-value-list ${body})))
              (cl:serious-condition (sluice-condition)
                (cl:list :failed (cl:princ-to-string (cl:type-of sluice-condition)))))))))`
}

function translate(expression: Expression, allowed: ReadonlySet<string>, used: Map<string, string>): Sexp {
  if (expression.kind === 'number') return sym(expression.token)
  if (expression.kind === 'string') return expression.text
  if (expression.kind === 'symbol') return translateSymbol(expression.name, 'sluice-value')
  const [head, ...args] = expression.items
  if (head === undefined) return []
  if (head.kind === 'symbol' && /^(?:(?:cl|common-lisp)::?)?quote$/i.test(head.name)) return translateData(args[0])
  const name = operatorOf(head, args.length, allowed)
  if (head.kind === 'symbol') used.set(head.name, name)
  return guarded(
    name,
    args.map((each) => translate(each, allowed, used)),
  )
}

const translateSymbol = (name: string, look: 'sluice-value' | 'sluice-find'): Sexp => {
  if (/^(?:cl:)?nil$/i.test(name)) return []
  if (/^(?:cl:)?t$/i.test(name)) return sym('cl:t')
  return [sym(name.startsWith(':') ? 'sluice-find' : look), name]
}

/** Quoted data is made again, element by element, because reading it would intern its names. */
function translateData(data: Expression | undefined): Sexp {
  if (data === undefined) throw fail('A quote needs a datum.')
  if (data.kind === 'number') return sym(data.token)
  if (data.kind === 'string') return data.text
  if (data.kind === 'symbol') return translateSymbol(data.name, 'sluice-find')
  return [sym('cl:list'), ...data.items.map(translateData)]
}

/** Sequences and hash tables can be of a kind that the image defines; then these functions would call its methods. */
function guarded(name: string, args: readonly Sexp[]): Sexp {
  const call = (first: Sexp): Sexp => [sym(`cl:${name}`), first, ...args.slice(1)]
  const [first = []] = args
  if (name === 'length' || name === 'elt')
    return lisp`
      (cl:let ((sluice-first ${first}))
        (cl:if (cl:or (cl:listp sluice-first) (cl:vectorp sluice-first))
          ${call(sym('sluice-first'))}
          (cl:error "Not a list or a vector")))`
  if (name === 'gethash')
    return lisp`
      (cl:let ((sluice-key ${first}) (sluice-table ${args[1] ?? []}))
        (cl:if (cl:member (cl:hash-table-test sluice-table) (cl:list (cl:quote cl:eq) (cl:quote cl:eql) (cl:quote cl:equal)))
          ${[sym('cl:gethash'), sym('sluice-key'), sym('sluice-table'), ...args.slice(2)]}
          (cl:error "The test of the table is not eq, eql or equal")))`
  return [sym(`cl:${name}`), ...args]
}

/**
 * Prints without `print-object`, whose methods are code of the image: plain data as Lisp prints it, an instance as
 * `#<object>`. It stops after a thousand parts.
 */
export const printer: Sexp = lisp`
  (cl:lambda (sluice-value)
    (cl:let ((sluice-left 1000) (cl:*print-pretty* nil) (cl:*print-circle* nil) (cl:*print-readably* nil))
      (cl:with-output-to-string (sluice-out)
        (cl:labels
          ((sluice-show (sluice-item sluice-depth)
             (cl:cond
               ((cl:or (cl:minusp (cl:decf sluice-left)) (cl:> sluice-depth 20)) (cl:write-string "…" sluice-out))
               ((cl:stringp sluice-item)
                 (cl:prin1 (cl:if (cl:> (cl:length sluice-item) 20000) (cl:subseq sluice-item 0 20000) (cl:coerce sluice-item (cl:quote cl:simple-string))) sluice-out))
               ((cl:or (cl:numberp sluice-item) (cl:symbolp sluice-item) (cl:characterp sluice-item)) (cl:prin1 sluice-item sluice-out))
               ((cl:consp sluice-item)
                 (cl:write-string "(" sluice-out)
                 (cl:loop
                   (sluice-show (cl:car sluice-item) (cl:1+ sluice-depth))
                   (cl:setf sluice-item (cl:cdr sluice-item))
                   (cl:cond ((cl:null sluice-item) (cl:return))
                            ((cl:minusp sluice-left) (cl:return))
                            ((cl:atom sluice-item)
                              (cl:write-string " . " sluice-out)
                              (sluice-show sluice-item (cl:1+ sluice-depth))
                              (cl:return))
                            (t (cl:write-string " " sluice-out))))
                 (cl:write-string ")" sluice-out))
               ((cl:simple-vector-p sluice-item)
                 (cl:write-string "#(" sluice-out)
                 (cl:dotimes (sluice-index (cl:min (cl:length sluice-item) 1000))
                   (cl:unless (cl:zerop sluice-index) (cl:write-string " " sluice-out))
                   (sluice-show (cl:svref sluice-item sluice-index) (cl:1+ sluice-depth)))
                 (cl:write-string ")" sluice-out))
               ((cl:packagep sluice-item) (cl:format sluice-out "#<PACKAGE ~A>" (cl:package-name sluice-item)))
               ((cl:hash-table-p sluice-item) (cl:format sluice-out "#<HASH-TABLE of ~D entries>" (cl:hash-table-count sluice-item)))
               ((cl:functionp sluice-item) (cl:write-string "#<FUNCTION>" sluice-out))
               (t (cl:write-string "#<object>" sluice-out)))))
          (sluice-show sluice-value 0)))))`

/** Returns the printed values, or says in words why there are none. */
export function toReading(value: Sexp, packageName: string): readonly string[] {
  const [kind, ...rest] = listOf(value)
  const name = textOf(rest[0])
  if (isSym(kind, ':values')) return rest.map(textOf)
  if (isSym(kind, ':missing')) throw fail(`Symbol not found: "${name}". repl_completions finds names.`)
  if (isSym(kind, ':unbound')) throw fail(`${name} is not a variable with a value.`)
  if (isSym(kind, ':shadowed'))
    throw fail(`In ${packageName}, ${name} is another function than Common Lisp's. It needs repl_eval and an approval.`)
  throw fail(`The expression failed with ${name}. repl_eval shows the error in the debugger, with an approval.`)
}
