/**
 * The public types of the review: which definitions of upstreams wait for an operator, how they differ from the accepted
 * ones, and the operator's decision. The console and the command use the same service, `Gateway.review`.
 */

/** The kinds of definitions that are pinned. `instructions` is one definition: what a server says about itself. */
export type PinnedKind = 'tool' | 'prompt' | 'template' | 'instructions'

/**
 * `new`: no definition of this name was accepted. `changed`: another one was. `gone`: an accepted one that the upstream
 * no longer lists, so it needs no decision.
 */
export type ReviewState = 'new' | 'changed' | 'gone'

/** A line of a definition as text. It may contain hidden characters: show it with `markedPieces` of `sluice/approvals`. */
export interface DiffLine {
  readonly change: 'same' | 'added' | 'removed'
  readonly text: string
}

/** A definition that is not served, because no operator accepted exactly this one. */
export interface QuarantinedDefinition {
  readonly upstream: string
  /** Names the definition within its upstream: `tool:read_file`, `template:file:///{path}`, `instructions`. */
  readonly id: string
  readonly kind: PinnedKind
  /** The upstream's own name or URI template; `instructions` for the instructions. */
  readonly name: string
  readonly state: ReviewState
  /** SHA-256 over everything that a model or a person sees of it. Empty if it is gone. */
  readonly hash: string
  /** The hash that was accepted before. */
  readonly acceptedHash?: string
  /** Why it needs a closer look, in words. Marks are shown, and decide nothing. */
  readonly marks: readonly string[]
  /** The operator who rejected exactly this hash, if one did. */
  readonly rejected?: { readonly by: string; readonly at: number }
}

/** A quarantined definition, line by line against the accepted one. */
export interface DefinitionDiff extends QuarantinedDefinition {
  readonly lines: readonly DiffLine[]
}

/** Everything of an upstream that differs from what was accepted. */
export interface UpstreamDiff {
  readonly upstream: string
  readonly definitions: readonly DefinitionDiff[]
  /** SHA-256 over the ids and hashes of the definitions that wait for a decision, to accept them all at once. */
  readonly hash: string
}

/** A definition and the hash that the operator was shown. */
export interface ReviewedDefinition {
  readonly id: string
  readonly hash: string
}

/** An operator, as the console or the command identifies them. */
export interface Reviewer {
  readonly subject: string
  readonly via: 'console' | 'command'
  /** Only an operator of all tenants may decide, because all tenants use the upstream. */
  readonly tenants: 'all' | readonly string[]
  /** Whether the operator holds the permission to decide about upstreams. */
  readonly operator: boolean
}

/** Shows and decides which definitions of the upstreams are served. All processes that share a store see the same. */
export interface DefinitionReview {
  /** Returns the definitions that are not served, of one upstream or of all. Rejected ones are among them. */
  quarantined(upstream?: string): Promise<readonly QuarantinedDefinition[]>
  /** Compares what an upstream lists now with what was accepted. Throws `invalidParams` if the upstream is unknown. */
  diff(upstream: string): Promise<UpstreamDiff>
  /**
   * Serves these definitions from now on, in all processes. All or none. Throws an `RpcError`: `conflict` if one of the
   * hashes is not what the upstream lists now, `forbidden` if `by` may not decide. Both are in the audit.
   */
  accept(upstream: string, definitions: readonly ReviewedDefinition[], by: Reviewer): Promise<void>
  /** Records that these definitions must not be served. An accepted one is quarantined. Throws as `accept` does. */
  reject(upstream: string, definitions: readonly ReviewedDefinition[], by: Reviewer): Promise<void>
  /** Calls the listener after the quarantine of an upstream changed in this process. The returned function unsubscribes. */
  onChange(listener: (upstream: string) => void): () => void
}
