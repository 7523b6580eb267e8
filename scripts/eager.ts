/**
 * Marks functions, so that V8 compiles them together with their file. V8 compiles any other function at its first call.
 * Node's compile cache does not keep those, so each start would compile them again.
 *
 * The mark is a pair of parentheses around a function expression. A declaration becomes a variable at the top of its
 * scope, where V8 hoists it to anyway. A method of an object becomes a property. A method of a class cannot be marked.
 */

import MagicString from 'magic-string'
import type { ArrowFunctionExpression, FunctionBody, Function as FunctionNode, Node, Program } from 'oxc-parser'
import { parseSync, Visitor } from 'oxc-parser'

/** `starts` are the offsets of the functions, as V8 reports them in its coverage. */
export function markEager(text: string, starts: ReadonlySet<number>): string {
  const marked = new MagicString(text)
  const surround = ({ start, end }: Node, before: string, after: string): void => {
    marked.prependRight(start, before)
    marked.appendLeft(end, after)
  }
  /** The function expression is anonymous: it gets its name from the variable. */
  function markDeclarations({ body }: Program | FunctionBody): void {
    const top = body[0]?.start ?? 0
    for (const statement of body) {
      if (statement.type !== 'FunctionDeclaration' || !statement.id || !starts.has(statement.start)) continue
      const { id, start, end } = statement
      marked.remove(id.start, id.end)
      surround(statement, `var ${id.name} = (`, ');\n')
      if (start !== top) marked.move(start, end, top)
    }
  }
  const markWithin = ({ body }: FunctionNode | ArrowFunctionExpression): void => {
    if (body?.type === 'BlockStatement') markDeclarations(body)
  }
  const methods = new Set<Node>()
  const markExpression = (node: FunctionNode | ArrowFunctionExpression): void => {
    if (!methods.has(node) && starts.has(node.start)) surround(node, '(', ')')
    markWithin(node)
  }
  const visitor = new Visitor({
    Program: markDeclarations,
    FunctionDeclaration: markWithin,
    MethodDefinition({ value }) {
      methods.add(value)
    },
    Property({ method, kind, computed, key, value, start }) {
      if (!method && kind === 'init') return
      methods.add(value)
      if (!method || value.type !== 'FunctionExpression' || !starts.has(start)) return
      marked.remove(start, computed ? text.indexOf('[', start) : key.start)
      const { async, generator } = value
      surround(value, `: (${async ? 'async ' : ''}function${generator ? '*' : ''} `, ')')
    },
    FunctionExpression: markExpression,
    ArrowFunctionExpression: markExpression,
  })
  visitor.visit(parseSync('bundle.js', text).program)
  return marked.toString()
}
