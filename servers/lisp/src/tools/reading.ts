/** Tools that read the image without an approval: expressions of functions that only read, and cross-references. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { isMissingSymbol, withSymbol } from '../look-up.ts'
import { functions, parseExpression } from '../reading.ts'
import { printer, readingForm, toReading } from '../reading-form.ts'
import { truncate } from '../session.ts'
import type { Sexp } from '../sexp.ts'
import { isSym, lisp, listOf, textOf } from '../sexp.ts'
import { packageOption, readOnlyTool, sessionOf, symbolNotFound } from './repl.ts'

const inPackage = z.string().min(1).max(200).optional().describe('The package to look names up in')
const maxExpression = 4000

/** The kinds of cross-reference, and what each one means. */
const xrefKinds = {
  callers: 'functions that call it',
  callees: 'functions that it calls',
  references: 'code that reads the variable',
  binds: 'code that binds the variable',
  sets: 'code that assigns the variable',
  macroexpands: 'code that uses the macro',
  specializes: 'methods for the class',
} as const
/** The functions of sb-introspect that find them. */
const finders: { readonly [kind in XrefKind]: string } = {
  callers: 'WHO-CALLS',
  callees: 'FIND-FUNCTION-CALLEES',
  references: 'WHO-REFERENCES',
  binds: 'WHO-BINDS',
  sets: 'WHO-SETS',
  macroexpands: 'WHO-MACROEXPANDS',
  specializes: 'WHO-SPECIALIZES-DIRECTLY',
}
type XrefKind = keyof typeof xrefKinds
const kinds = Object.keys(xrefKinds) as XrefKind[]
const maxReferences = 200

export function readingTools(sessions: App): readonly Tool[] {
  const { readFunctions } = sessions
  const all = Object.keys(functions).length
  const which = readFunctions.size === all ? 'such as + car nth gethash length' : [...readFunctions].join(' ')
  const read = tool({
    name: 'repl_read',
    description: `Evaluate an expression that only reads, without approval: variables, quoted data, if/and/or, and functions of Common Lisp that change nothing (${which}). No #, no lambda, no functions of the program: those need repl_eval.`,
    input: z.object({
      expression: z.string().min(1).max(maxExpression).describe('One expression, such as (gethash :a *table*)'),
      package: inPackage,
    }),
    annotations: readOnlyTool,
    async run({ expression, package: name }, { call, signal }) {
      const form = readingForm(parseExpression(expression), readFunctions)
      const found = await sessionOf(sessions, call.tenant.id).evaluate(form, signal, packageOption(name))
      const values = toReading(found, name ?? 'COMMON-LISP-USER').map(truncate)
      const text = values.map((value) => `=> ${value}`).join('\n') || 'No values.'
      return { content: [{ type: 'text', text }], structuredContent: { values } }
    },
  })
  const xref = tool({
    name: 'repl_xref',
    description: `Cross-references of a symbol. ${kinds.map((kind) => `${kind}: ${xrefKinds[kind]}`).join('; ')}.`,
    input: z.object({
      symbol: z.string().min(1).max(500).describe('The name of a symbol, such as "my-package:thing"'),
      kind: z.enum(kinds).default('callers'),
      package: inPackage,
    }),
    annotations: readOnlyTool,
    async run({ symbol, kind, package: name }, { call, signal }) {
      const form = withSymbol(symbol, xrefForm(kind))
      const found = await sessionOf(sessions, call.tenant.id).evaluate(form, signal, packageOption(name))
      if (isMissingSymbol(found)) throw fail(symbolNotFound(symbol))
      if (isSym(found, ':sluice-unsupported')) throw fail('Cross-references need SBCL; this image is another Lisp.')
      const references = listOf(found).slice(0, maxReferences).map(toReference)
      const lines = references.map(({ name, file }) => (file === undefined ? name : `${name} in ${file}`))
      const text = lines.join('\n') || `No ${xrefKinds[kind]} are known.`
      return { content: [{ type: 'text', text }], structuredContent: { symbol, kind, references } }
    },
  })
  return readFunctions.size === 0 ? [xref] : [read, xref]
}

/**
 * Asks SBCL itself (sb-introspect), as Swank does. Swank's own functions would also read the source files for the place
 * of a definition, and reading interns names.
 */
const xrefForm = (kind: XrefKind): Sexp => lisp`
  (cl:let* ((sluice-home (cl:find-package "SB-INTROSPECT"))
            (sluice-find (cl:and sluice-home (cl:find-symbol ${finders[kind]} sluice-home)))
            (sluice-print ${printer}))
    (cl:if (cl:not (cl:and sluice-find (cl:fboundp sluice-find)))
      :sluice-unsupported
      ${
        kind === 'callees'
          ? lisp`
            (cl:if (cl:and (cl:fboundp sluice-symbol) (cl:not (cl:macro-function sluice-symbol))
                           (cl:not (cl:special-operator-p sluice-symbol)))
              (cl:mapcar (cl:lambda (sluice-each)
                           (cl:list (cl:funcall sluice-print (cl:nth-value 2 (cl:function-lambda-expression sluice-each)))))
                         (cl:funcall sluice-find (cl:fdefinition sluice-symbol))))`
          : lisp`
            (cl:mapcar (cl:lambda (sluice-each)
                         (cl:let ((sluice-path (cl:funcall (cl:find-symbol "DEFINITION-SOURCE-PATHNAME" sluice-home) (cl:cdr sluice-each))))
                           (cl:list (cl:funcall sluice-print (cl:car sluice-each))
                                    (cl:if sluice-path (cl:namestring sluice-path) ""))))
                       (cl:funcall sluice-find sluice-symbol))`
      }))`

/** A function that was typed into the image has no file. */
function toReference(reference: Sexp): { readonly name: string; readonly file?: string } {
  const [name, file] = listOf(reference).map(textOf)
  return { name: name ?? '', ...(file && { file }) }
}
