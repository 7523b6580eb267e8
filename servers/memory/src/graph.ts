/** Traverses the graph that an agent states, and exports it for other programs. */

import type { Entity, Relation, Workspace } from './archive.ts'

export interface Related {
  readonly entity: Entity
  readonly depth: number
  /** The product of the confidences on the best path: two steps of 0.9 give 0.81. */
  readonly confidence: number
  /** The last step of that path. */
  readonly relation: string
  readonly direction: 'out' | 'in'
  readonly from: Entity
}

interface Step {
  readonly key: number
  readonly from: number
  readonly depth: number
  readonly confidence: number
  readonly relation: string
  readonly direction: 'out' | 'in'
}

/** Traverses breadth-first, along relations in both directions. Sorts nearest first, then by confidence. */
export async function related(
  workspace: Workspace,
  start: Entity,
  { depth, limit, types }: { readonly depth: number; readonly limit: number; readonly types: readonly string[] },
): Promise<readonly Related[]> {
  const reached = new Map<number, Step>()
  let edge: readonly { readonly key: number; readonly confidence: number }[] = [{ key: start.key, confidence: 1 }]
  for (let step = 1; step <= depth && edge.length > 0 && reached.size < limit; step++) {
    const sureness = new Map(edge.map(({ key, confidence }) => [key, confidence]))
    const found = new Map<number, Step>()
    for (const relation of await workspace.relationsOf([...sureness.keys()], types))
      for (const next of stepsAlong(relation, sureness, step)) {
        if (next.key === start.key || reached.has(next.key)) continue
        const known = found.get(next.key)
        if (!known || known.confidence < next.confidence) found.set(next.key, next)
      }
    edge = [...found.values()].sort((a, b) => b.confidence - a.confidence || a.key - b.key)
    for (const next of found.values()) reached.set(next.key, next)
  }
  const steps = [...reached.values()]
    .sort((a, b) => a.depth - b.depth || b.confidence - a.confidence || a.key - b.key)
    .slice(0, limit)
  const keys = new Set(steps.flatMap(({ key, from }) => [key, from]))
  const named = new Map((await workspace.entitiesBy([...keys])).map((entity) => [entity.key, entity]))
  return steps.flatMap(({ key, from, ...step }) => {
    const [entity, before] = [named.get(key), named.get(from)]
    return entity && before ? [{ ...step, entity, from: before }] : []
  })
}

function stepsAlong(
  { from, to, type, confidence }: Relation,
  sureness: ReadonlyMap<number, number>,
  depth: number,
): readonly Step[] {
  const steps: Step[] = []
  const out = sureness.get(from)
  if (out !== undefined)
    steps.push({ key: to, from, depth, confidence: out * confidence, relation: type, direction: 'out' })
  const back = sureness.get(to)
  if (back !== undefined)
    steps.push({ key: from, from: to, depth, confidence: back * confidence, relation: type, direction: 'in' })
  return steps
}

export interface Graph {
  readonly nodes: readonly { readonly id: string; readonly name: string; readonly type: string }[]
  readonly edges: readonly {
    readonly from: string
    readonly to: string
    readonly type: string
    readonly confidence: number
  }[]
}

const pageSize = 1000

/** Returns `undefined` if the graph takes more than `maxBytes` as JSON, without building that text. */
export async function wholeGraph(workspace: Workspace, maxBytes?: undefined): Promise<Graph>
export async function wholeGraph(workspace: Workspace, maxBytes: number): Promise<Graph | undefined>
export async function wholeGraph(
  workspace: Workspace,
  maxBytes: number = Number.POSITIVE_INFINITY,
): Promise<Graph | undefined> {
  let bytes = 0
  const entities = new Map<number, Entity>()
  for (let after = 0; ; ) {
    const page = await workspace.entities(after, pageSize)
    for (const entity of page) {
      entities.set(entity.key, entity)
      bytes += entity.id.length + entity.name.length + entity.type.length
    }
    if (bytes > maxBytes) return undefined
    if (page.length < pageSize) break
    after = page.at(-1)?.key ?? after
  }
  const edges: Graph['edges'][number][] = []
  for (let after = 0; ; ) {
    const page = await workspace.relations(after, pageSize)
    for (const { from, to, type, confidence } of page) {
      const [source, target] = [entities.get(from), entities.get(to)]
      if (source && target) edges.push({ from: source.id, to: target.id, type, confidence })
      bytes += 72 + type.length
    }
    if (bytes > maxBytes) return undefined
    if (page.length < pageSize) break
    after = page.at(-1)?.key ?? after
  }
  return { nodes: [...entities.values()].map(({ id, name, type }) => ({ id, name, type })), edges }
}

/** Writes GraphML (http://graphml.graphdrawing.org), which Gephi, yEd, NetworkX and Cytoscape read. */
export const toGraphML = ({ nodes, edges }: Graph): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    '  <key id="name" for="node" attr.name="name" attr.type="string"/>',
    '  <key id="type" for="node" attr.name="type" attr.type="string"/>',
    '  <key id="relation" for="edge" attr.name="relation" attr.type="string"/>',
    '  <key id="confidence" for="edge" attr.name="confidence" attr.type="double"/>',
    '  <graph id="memory" edgedefault="directed">',
    ...nodes.map(
      ({ id, name, type }) =>
        `    <node id="${id}"><data key="name">${xml(name)}</data><data key="type">${xml(type)}</data></node>`,
    ),
    ...edges.map(
      ({ from, to, type, confidence }) =>
        `    <edge source="${from}" target="${to}"><data key="relation">${xml(type)}</data><data key="confidence">${confidence}</data></edge>`,
    ),
    '  </graph>',
    '</graphml>',
    '',
  ].join('\n')

const entityOf: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/**
 * Escapes for XML 1.0, which cannot represent most control characters or half a surrogate pair. One of them would make
 * the whole file invalid.
 */
const xml = (text: string): string =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones meant
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (sign) => entityOf[sign] ?? sign)
