/** Defines an article, and which articles are visible. */

export const statuses = ['Draft', 'Proposed', 'Live', 'Deprecated', 'Experimental'] as const
/** Decides whether an article is visible, and tells how far to trust it. */
export type Status = (typeof statuses)[number]

/** A source that an article cites. */
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

/** The fields of the front matter. Without front matter `markdown.ts` derives them. */
export interface FrontMatter {
  readonly title: string
  readonly longTitle?: string
  readonly description: string
  readonly tags: readonly string[]
  /** Other titles, under which search and links of Obsidian find it. */
  readonly aliases?: readonly string[]
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

/** A Markdown file: its front matter, its location and its text. */
export interface Article extends FrontMatter {
  /** The folder of the file. */
  readonly collection: string
  /** The file name without extension. Two collections may share a slug. */
  readonly slug: string
  readonly body: string
}

/** Returns a unique key; a slug alone is not unique. */
export const keyOf = ({ collection, slug }: Pick<Article, 'collection' | 'slug'>): string => `${collection}/${slug}`

export const uriOf = ({ collection, slug }: Pick<Article, 'collection' | 'slug'>): string =>
  `article://${encodeURIComponent(collection)}/${encodeURIComponent(slug)}`

/**
 * Hidden articles never enter a knowledge base or an index file, so that no answer can tell a hidden article from a
 * missing one.
 */
export const isVisible = ({ status }: Pick<Article, 'status'>): boolean =>
  status === 'Live' || status === 'Experimental'

/** Sorts newest first, then by name, so that the same articles always give the same list. */
export const byDate = (a: Article, b: Article): number =>
  compareCodeUnits(b.lastUpdated, a.lastUpdated) || compareCodeUnits(keyOf(a), keyOf(b))

/** Compares by code units, so that the order does not depend on the locale of the server. */
export const compareCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
