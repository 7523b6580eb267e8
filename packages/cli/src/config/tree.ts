/** Settings as a tree, and where each came from. Paths are lists of names, because a tenant or a tool may have a dot in its name. */

export interface Tree {
  [name: string]: unknown
}
export type Path = readonly string[]

/** Whether it is a plain object: settings by name, and nothing with behaviour of its own. */
export const isTree = (value: unknown): value is Tree => {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // A configuration module may come from another realm, whose Object is not ours.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** `tenant.tools["acme.com"]`: a name that is not a word is quoted, so that no two paths read the same. */
export const pathText = (path: Path): string =>
  path.reduce((text, name) => {
    if (!/^[\w$-]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`
    return text === '' ? name : `${text}.${name}`
  }, '')

/** Leaves with their paths. A list is a leaf, since two lists are not mixed, and so is an empty group. */
export function leavesOf(value: unknown, path: Path = []): readonly (readonly [Path, unknown])[] {
  if (!isTree(value) || (path.length > 0 && Object.keys(value).length === 0)) return [[path, value]]
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...path, name]))
}

/** Sets one leaf; whatever was there and is not a group is replaced. */
export function setLeaf(tree: Tree, [name = '', ...rest]: Path, value: unknown): void {
  const below = Object.hasOwn(tree, name) ? tree[name] : undefined
  const next: Tree = isTree(below) ? below : {}
  if (rest.length > 0) setLeaf(next, rest, value)
  // Not by assignment: the name `__proto__` would set the prototype and its settings would vanish.
  Object.defineProperty(tree, name, {
    value: rest.length > 0 ? next : value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}
