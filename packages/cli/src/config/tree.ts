/** Settings as a tree. Paths are lists of names, because the name of a tenant or tool may contain a dot. */

export interface Tree {
  [name: string]: unknown
}
export type Path = readonly string[]

/** Whether the value is a plain object and not an instance of a class. */
export const isTree = (value: unknown): value is Tree => {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // A configuration module may come from another realm, which has another `Object`.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Returns `tenant.tools["acme.com"]`. A name that is not a word is quoted, so that different paths differ as text. */
export const pathText = (path: Path): string =>
  path.reduce((text, name) => {
    if (!/^[\w$-]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`
    return text === '' ? name : `${text}.${name}`
  }, '')

/** Returns the leaves with their paths. A list is a leaf, because lists are not merged. An empty group is one too. */
export function leavesOf(value: unknown, path: Path = []): readonly (readonly [Path, unknown])[] {
  if (!isTree(value) || (path.length > 0 && Object.keys(value).length === 0)) return [[path, value]]
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...path, name]))
}

/** Sets one leaf. Replaces a previous value that is not a group. */
export function setLeaf(tree: Tree, [name = '', ...rest]: Path, value: unknown): void {
  const existing = Object.hasOwn(tree, name) ? tree[name] : undefined
  const next: Tree = isTree(existing) ? existing : {}
  if (rest.length > 0) setLeaf(next, rest, value)
  // An assignment to the name `__proto__` would set the prototype, and its settings would be lost.
  Object.defineProperty(tree, name, {
    value: rest.length > 0 ? next : value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}
