/** The keys of the Approvals page, in a dialog. */

import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const keys: readonly (readonly [readonly string[], string])[] = [
  [['j', '↓'], 'Next ticket in the list'],
  [['k', '↑'], 'Previous ticket in the list'],
  [['Enter'], 'Opens the ticket, or presses the button'],
  [['a'], 'Goes to Approve'],
  [['d'], 'Goes to Deny'],
  [['?'], 'Shows these keys'],
  [['Esc'], 'Closes a dialog'],
]

export function KeysHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {keys.map(([names, does]) => (
          <div key={does}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  )
}
