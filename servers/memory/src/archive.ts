/**
 * The storage of memories: SQLite for one machine, PostgreSQL for many. Both keep one contract (`archive.test.ts`).
 *
 * A `Workspace` is bound to one workspace of one tenant when it is opened, and none of its methods takes another. So
 * the data of another tenant cannot be named.
 */

export interface Archive {
  /** Returns `undefined` if the tenant has no such workspace. `default` always exists. */
  workspace(tenant: string, id: string): Promise<Workspace | undefined>
  /** Returns false if the tenant already has a workspace of that name. */
  createWorkspace(tenant: string, workspace: NewWorkspace): Promise<boolean>
  listWorkspaces(tenant: string): Promise<readonly WorkspaceEntry[]>
  /** Deletes the workspace with all contents. Returns false if there is none. */
  deleteWorkspace(tenant: string, id: string): Promise<boolean>
  /** Returns the workspaces with chunks that have no vector, so that they can be embedded later. */
  unembedded(): Promise<readonly Workspace[]>
  /**
   * Deletes vectors of another model or length, because they cannot be compared. Offers rejected texts again. Returns
   * whether this archive can store vectors.
   */
  useVectors(model: string): Promise<boolean>
  close(): Promise<void>
}

export interface Workspace extends WorkspaceGraph {
  readonly tenant: string
  readonly id: string
  /** Adds all memories or none. Returns, in the same order, false for each memory whose id is taken. */
  add(memories: readonly NewMemory[]): Promise<readonly boolean[]>
  get(id: string): Promise<Memory | undefined>
  /** Lists newest first, with the first `listedText` characters of each text, because a text may have ten million. */
  list(page: Page): Promise<readonly Memory[]>
  /**
   * Reads in insertion order, after the key `after`. Stops early after the memory whose text brings the total to
   * `maxBytes`.
   */
  walk(after: number, limit: number, maxBytes: number): Promise<readonly Memory[]>
  delete(id: string): Promise<boolean>
  /** Deletes memories, chunks, vectors, entities and relations; the workspace itself stays. */
  clear(): Promise<void>
  counts(): Promise<Counts>
  /** Returns the chunks whose words match and that pass the filters, best first. */
  searchText(words: readonly string[], filters: Filters, limit: number): Promise<readonly Hit[]>
  /** Returns the chunks with the nearest vectors that pass the filters, best first. */
  searchVectors(vector: Float32Array, filters: Filters, limit: number): Promise<readonly Hit[]>
  /**
   * Returns the memories of these hits, each with the matching chunk as its text. Accepts at most one hit per memory.
   */
  read(hits: readonly Pick<Hit, 'memory' | 'start' | 'end'>[]): Promise<ReadonlyMap<number, Memory>>
  /** Returns chunks without a vector, oldest first. */
  unembedded(limit: number): Promise<readonly Piece[]>
  /** Throws `VectorLengthMismatch` if the stored vectors have another length. */
  embed(vectors: readonly PieceVector[]): Promise<void>
}

/** The entities of a workspace and their relations. */
export interface WorkspaceGraph {
  /**
   * Stores a relation and creates its entities. Returns false if this relation already existed; then its confidence is
   * updated.
   */
  relate(relation: NewRelation): Promise<boolean>
  /**
   * Stores entities and relations, all or none. Returns how many of them are new. The confidence of an existing relation
   * is updated.
   */
  addGraph(graph: NewGraph): Promise<{ readonly entities: number; readonly relations: number }>
  entity(nameOrId: string): Promise<Entity | undefined>
  /** Returns the relations of any of these entities, in both directions. */
  relationsOf(entities: readonly number[], types: readonly string[]): Promise<readonly Relation[]>
  entities(after: number, limit: number): Promise<readonly Entity[]>
  relations(after: number, limit: number): Promise<readonly Relation[]>
  entitiesBy(keys: readonly number[]): Promise<readonly Entity[]>
  graphCounts(): Promise<GraphCounts>
  /** Deletes the entities without relations and returns how many there are. With `dryRun` it only counts them. */
  deleteUnrelated(dryRun: boolean): Promise<number>
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
  /** What the agent said about the source; also a filter. */
  readonly source: string | undefined
  readonly tags: readonly string[]
  /** All other metadata as JSON text; `{}` if there is none. */
  readonly metadata: string
  /** When it was true or written, as stated by the agent; otherwise when it was stored. */
  readonly at: number
  readonly chunks: readonly { readonly start: number; readonly end: number }[]
}
export interface Memory extends Omit<NewMemory, 'chunks'> {
  /** The archive's own number, valid only for `read` and as a page cursor. */
  readonly key: number
}

export interface Filters {
  /** Matches any of these tags. Empty means no filter. */
  readonly tags: readonly string[]
  readonly source?: string | undefined
  /** Milliseconds since the epoch, both inclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}
export interface Page {
  readonly filters: Filters
  readonly limit: number
  /** The last memory of the previous page. */
  readonly after?: { readonly at: number; readonly key: number } | undefined
}

export const maxListedText = 1000

export interface Hit {
  readonly memory: number
  readonly piece: number
  readonly start: number
  readonly end: number
  /** Higher is better; comparable only within one list. */
  readonly score: number
}
export interface Piece {
  readonly piece: number
  readonly text: string
}
export interface PieceVector {
  readonly piece: number
  /** `undefined` if the service rejected this text. It is not offered again before the next start. */
  readonly vector: Float32Array | undefined
}

export interface Counts {
  readonly memories: number
  readonly chunks: number
  /** The size of all texts in UTF-8. */
  readonly textBytes: number
  /** The size of the archive on disk; `undefined` for a tenant that shares it with others. */
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
  /** Compared without regard to case. */
  readonly name: string
  /** Defaults to the entity's previous type, or `thing`. */
  readonly type?: string | undefined
}
export interface NewGraph {
  readonly entities: readonly NewEntity[]
  readonly relations: readonly NewRelation[]
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

/** The embedding service returned vectors that cannot be compared with the stored ones. */
export class VectorLengthMismatch extends Error {
  override readonly name = 'VectorLengthMismatch'
  readonly expected: number
  readonly actual: number
  constructor(stored: number, received: number) {
    super(`vectors of ${received} numbers where the stored vectors have ${stored}`)
    this.expected = stored
    this.actual = received
  }
}

/** The workspace was deleted after it was looked up, perhaps by another process. */
export class WorkspaceDeleted extends Error {
  override readonly name = 'WorkspaceDeleted'
}

/** Returns the common length of these vectors, after comparing it with the stored ones. */
export function checkedVectorLength(vectors: readonly PieceVector[], stored: number): number {
  let length = stored
  for (const { vector } of vectors) {
    if (!vector) continue
    if (length !== 0 && vector.length !== length) throw new VectorLengthMismatch(length, vector.length)
    length = vector.length
  }
  return length
}

/** Returns the memory with one range of its text. */
export const withTextRange = (memory: Memory, range: Pick<Hit, 'start' | 'end'> | undefined): Memory => ({
  ...memory,
  text: memory.text.slice(range?.start ?? 0, range?.end ?? 0),
})

/** Normalizes the name of an entity: 'Anna' and 'anna ' are the same. */
export const foldName = (name: string): string => name.normalize('NFC').trim().toLowerCase()

export const defaultWorkspace = 'default'
