/** The field for a person's note on a decision. */

import type { JSX } from 'preact'

export const NoteField = (props: {
  readonly note: string
  readonly disabled?: boolean
  readonly onNote: (note: string) => void
}): JSX.Element => (
  <label class="note">
    <span class="unseen">Note</span>
    <input
      value={props.note}
      maxLength={1000}
      placeholder="A note for the record"
      disabled={props.disabled}
      onInput={(event) => props.onNote(event.currentTarget.value)}
    />
  </label>
)
