/**
 * What keeps memories: SQLite for one machine, PostgreSQL for many. Both keep one contract (`archive.test.ts`).
 *
 * A `Workspace` is bound to one workspace of one tenant when it is opened, and none of its verbs takes another: what
 * belongs to somebody else cannot be named.
 */

export interface Archive {
  /** `undefined` where the tenant has no such workspace. `default` is always there. */
  workspace(tenant: string, id: string): Promise<Workspace | undefined>
  /** False where the tenant has one of that name. */
  createWorkspace(tenant: string, workspace: NewWorkspace): Promise<boolean>
  listWorkspaces(tenant: string): Promise<readonly WorkspaceEntry[]>
  /** With everything in it. False where there is none. */
  deleteWorkspace(tenant: string, id: string): Promise<boolean>
  /** Workspaces that hold pieces without a vector, so that they can be embedded later. */
  unembedded(): Promise<readonly Workspace[]>
  /**
   * Vectors of another model or length are forgotten: they compare with nothing. Texts that the service would not take
   * are offered again. Says whether vectors can be kept.
   */
  useVectors(model: string): Promise<boolean>
  close(): Promise<void>
}

export interface Workspace {
  readonly tenant: string
  readonly id: string
  /** All or nothing. False, in the same order, for each memory whose id is taken. */
  add(memories: readonly NewMemory[]): Promise<readonly boolean[]>
  get(id: string): Promise<Memory | undefined>
  /** Newest first. Of each text the first `listedText` characters, since a text may have ten million. */
  list(page: Page): Promise<readonly Memory[]>
  /** In the order they were stored, from behind `after` on. Ends early with the one whose text makes it `maxBytes` together. */
  walk(after: number, limit: number, maxBytes: number): Promise<readonly Memory[]>
  delete(id: string): Promise<boolean>
  /** Memories, pieces, vectors, entities and relations; the workspace itself stays. */
  clear(): Promise<void>
  counts(): Promise<Counts>
  /** Best first: pieces whose words match, among those the filters let through. */
  searchText(words: readonly string[], filters: Filters, limit: number): Promise<readonly Hit[]>
  /** Best first: pieces whose vectors are near, among those the filters let through. */
  searchVectors(vector: Float32Array, filters: Filters, limit: number): Promise<readonly Hit[]>
  /** The memories behind hits, each with the piece that was hit as its text. At most one hit of each memory. */
  read(hits: readonly Pick<Hit, 'memory' | 'start' | 'end'>[]): Promise<ReadonlyMap<number, Memory>>
  /** Pieces without a vector, oldest first. */
  unembedded(limit: number): Promise<readonly Piece[]>
  /** Throws `VectorLengthMismatch` where the vectors kept so far have another length. */
  embed(vectors: readonly PieceVector[]): Promise<void>

  /** Entities come into being by being related. False where exactly this relation stood already (its confidence is renewed). */
  relate(relation: NewRelation): Promise<boolean>
  entity(nameOrId: string): Promise<Entity | undefined>
  /** The relations at any of these entities, in both directions. */
  relationsOf(entities: readonly number[], types: readonly string[]): Promise<readonly Relation[]>
  entities(after: number, limit: number): Promise<readonly Entity[]>
  relations(after: number, limit: number): Promise<readonly Relation[]>
  entitiesBy(keys: readonly number[]): Promise<readonly Entity[]>
  graphCounts(): Promise<GraphCounts>
}

export interface NewWorkspace {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly createdAt: number
}
export interface WorkspaceEntry extends NewWorkspace {
  readonly memories: number
}

export interface NewMemory {
  /** A UUID in lower case. */
  readonly id: string
  readonly text: string
  /** What the agent said about it; also what is filtered by. */
  readonly source: string | undefined
  readonly tags: readonly string[]
  /** Whatever else came as metadata, as JSON text; `{}` for nothing. */
  readonly metadata: string
  /** When it was true or written, by the agent's word; otherwise when it was stored. */
  readonly at: number
  readonly chunks: readonly { readonly start: number; readonly end: number }[]
}
export interface Memory extends Omit<NewMemory, 'chunks'> {
  /** The archive's own number, only good for `read` and as a page's end. */
  readonly key: number
}

export interface Filters {
  /** Any of these. Empty: no filter. */
  readonly tags: readonly string[]
  readonly source?: string | undefined
  /** Milliseconds since the epoch, both inclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}
export interface Page {
  readonly filters: Filters
  readonly limit: number
  /** The last memory of the page before. */
  readonly after?: { readonly at: number; readonly key: number } | undefined
}

export const maxListedText = 1000

export interface Hit {
  readonly memory: number
  readonly piece: number
  readonly start: number
  readonly end: number
  /** Higher is better; comparable within one list only. */
  readonly score: number
}
export interface Piece {
  readonly piece: number
  readonly text: string
}
export interface PieceVector {
  readonly piece: number
  /** `undefined`: the service would not take this text, and is not asked again before the next start. */
  readonly vector: Float32Array | undefined
}

export interface Counts {
  readonly memories: number
  readonly chunks: number
  /** Of the memories' text, in UTF-8. */
  readonly textBytes: number
  /** What the archive takes on disk; `undefined` to a tenant that shares it with others. */
  readonly fileBytes: number | undefined
  readonly oldest: number | undefined
  readonly newest: number | undefined
  readonly embedded: number
}

export interface NewRelation {
  readonly from: NewEntity
  readonly type: string
  readonly to: NewEntity
  /** From 0 to 1. */
  readonly confidence: number
}
export interface NewEntity {
  /** Told apart without regard to case. */
  readonly name: string
  /** Left out: what it was before, or `thing`. */
  readonly type?: string | undefined
}
export interface Entity {
  readonly key: number
  readonly id: string
  readonly name: string
  readonly type: string
}
export interface Relation {
  readonly key: number
  readonly from: number
  readonly to: number
  readonly type: string
  readonly confidence: number
}
export interface GraphCounts {
  readonly entities: number
  readonly relations: number
  readonly types: { readonly [type: string]: number }
}

/** The embedding service gave vectors that cannot be compared with those kept. */
export class VectorLengthMismatch extends Error {
  override readonly name = 'VectorLengthMismatch'
  readonly expected: number
  readonly actual: number
  constructor(kept: number, given: number) {
    super(`vectors of ${given} numbers where ${kept} are kept`)
    this.expected = kept
    this.actual = given
  }
}

/** The workspace was deleted, by another process perhaps, after it had been looked up. */
export class WorkspaceDeleted extends Error {
  override readonly name = 'WorkspaceDeleted'
}

/** The one length of these vectors, held against what is kept already. */
export function checkedVectorLength(vectors: readonly PieceVector[], kept: number): number {
  let length = kept
  for (const { vector } of vectors) {
    if (!vector) continue
    if (length !== 0 && vector.length !== length) throw new VectorLengthMismatch(length, vector.length)
    length = vector.length
  }
  return length
}

/** A memory with one range of its text. */
export const withTextRange = (memory: Memory, range: Pick<Hit, 'start' | 'end'> | undefined): Memory => ({
  ...memory,
  text: memory.text.slice(range?.start ?? 0, range?.end ?? 0),
})

/** What tells entities apart: 'Anna' and 'anna ' are one. */
export const foldName = (name: string): string => name.normalize('NFC').trim().toLowerCase()

export const defaultWorkspace = 'default'
