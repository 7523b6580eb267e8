/** An article as this server knows it, and which ones anybody may see. */

export const statuses = ['Draft', 'Proposed', 'Live', 'Deprecated', 'Experimental'] as const
/** Whether an article may be seen, and how far to trust it. */
export type Status = (typeof statuses)[number]

/** A source that an article names. */
export interface Reference {
  readonly type: 'website' | 'paper' | 'book' | 'podcast' | 'video' | 'repository' | 'standard'
  readonly title: string
  readonly url?: string
  readonly author?: string
  readonly authors?: readonly string[]
  readonly publisher?: string
  readonly published?: string
  readonly accessed?: string
  readonly isbn?: string
  readonly doi?: string
  readonly annotation?: string
}

/** What the front matter says, or what stands in for it: see `markdown.ts`. */
export interface FrontMatter {
  readonly title: string
  readonly longTitle?: string
  readonly description: string
  readonly tags: readonly string[]
  readonly publishedDate?: string
  readonly lastUpdated: string
  readonly status: Status
  readonly supersededBy?: readonly string[]
  readonly relatedIds?: readonly string[]
  readonly references?: readonly Reference[]
  readonly difficulty?: string
  readonly category?: string
  readonly tools?: readonly string[]
  readonly prerequisites?: readonly string[]
  readonly estimatedMinutes?: number
  readonly agentPrompt?: string
}

/** A file of Markdown: its front matter, where it is, its text. */
export interface Article extends FrontMatter {
  /** The folder it is in. */
  readonly collection: string
  /** The name of its file. Two collections may have the same one. */
  readonly slug: string
  readonly body: string
}

/** Unique, unlike the slug alone. */
export const keyOf = ({ collection, slug }: Pick<Article, 'collection' | 'slug'>): string => `${collection}/${slug}`

export const uriOf = ({ collection, slug }: Pick<Article, 'collection' | 'slug'>): string =>
  `article://${encodeURIComponent(collection)}/${encodeURIComponent(slug)}`

/** The rest never enters a base or an index file, so that no answer can tell a hidden article from a missing one. */
export const isVisible = ({ status }: Pick<Article, 'status'>): boolean =>
  status === 'Live' || status === 'Experimental'

/** Newest first; of one day in the order of their names, so that two lists of the same articles are the same list. */
export const byDate = (a: Article, b: Article): number =>
  compareCodeUnits(b.lastUpdated, a.lastUpdated) || compareCodeUnits(keyOf(a), keyOf(b))

/** By code units: the order must not depend on where the server runs. */
export const compareCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
