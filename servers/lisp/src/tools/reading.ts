/** Tools that read the image without an approval: expressions of functions that only read, and cross-references. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { isMissingSymbol, withSymbol } from '../look-up.ts'
import { functions, parseExpression } from '../reading.ts'
import { readingForm, toReading } from '../reading-form.ts'
import { truncate } from '../session.ts'
import type { Sexp } from '../sexp.ts'
import { isSym, lisp, listOf, sym, textOf } from '../sexp.ts'
import { packageOption, readOnlyTool, sessionOf, symbolNotFound } from './repl.ts'

const inPackage = z.string().min(1).max(200).optional().describe('The package to look names up in')
const maxExpression = 4000

/** Swank's kinds of cross-reference, and what each one means. */
const xrefKinds = {
  callers: 'functions that call it',
  callees: 'functions that it calls',
  references: 'code that reads the variable',
  binds: 'code that binds the variable',
  sets: 'code that assigns the variable',
  macroexpands: 'code that uses the macro',
  specializes: 'methods for the class',
} as const
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
      if (isSym(found, ':not-implemented')) throw fail(`This Lisp does not record ${kind}.`)
      const references = listOf(found).slice(0, maxReferences).map(toReference)
      const lines = references.map(({ name, file }) => (file === undefined ? name : `${name} in ${file}`))
      const text = lines.join('\n') || `No ${xrefKinds[kind]} are known.`
      return { content: [{ type: 'text', text }], structuredContent: { symbol, kind, references } }
    },
  })
  return readFunctions.size === 0 ? [xref] : [read, xref]
}

/** Swank's own `xref` would pass the name to the Lisp reader; this is the function behind it. */
const xrefForm = (kind: XrefKind): Sexp => lisp`
  (cl:let ((sluice-found (swank::xref-doit ${sym(`:${kind === 'callers' ? 'calls' : kind}`)} sluice-symbol)))
    (cl:if (cl:listp sluice-found)
      (cl:mapcar (cl:function swank::xref>elisp) sluice-found)
      sluice-found))`

/** Reads `(name (:location (:file path) …))`. A function typed into the image has no file. */
function toReference(reference: Sexp): { readonly name: string; readonly file?: string } {
  const [name, location] = listOf(reference)
  const place = listOf(location).find((each) => isSym(listOf(each)[0], ':file'))
  const file = textOf(listOf(place)[1])
  return { name: textOf(name).replace(/\s+/g, ' '), ...(file !== '' && { file }) }
}
