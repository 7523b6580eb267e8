/** The result of one check. */

export interface Finding {
  readonly state: 'good' | 'note' | 'bad'
  readonly what: string
  readonly found: string
  /** The advice; always set if the state is `bad`. */
  readonly fix?: string
}

export const good = (what: string, found: string): Finding => ({ state: 'good', what, found })
export const note = (what: string, found: string, fix: string): Finding => ({ state: 'note', what, found, fix })
export const bad = (what: string, found: string, fix: string): Finding => ({ state: 'bad', what, found, fix })
