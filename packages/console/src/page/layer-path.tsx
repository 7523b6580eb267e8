/** The way of one call through the layers: what each took, and which one ended it. */

import type { JSX } from 'preact'
import type { LayerTime } from '../api/index.ts'
import { milliseconds, Visible } from './ui.tsx'

export function LayerPath(props: {
  readonly layers?: readonly LayerTime[]
  readonly endedBy?: string
  readonly failed: boolean
  readonly message?: string
}): JSX.Element | null {
  const { layers, endedBy, failed, message } = props
  if (!layers || layers.length === 0) return null
  const longest = Math.max(...layers.map(({ ms }) => ms), 0.01)
  return (
    <figure class="block">
      <figcaption>Way through the layers</figcaption>
      <ol class="layers">
        {layers.map(({ name, ms }) => (
          <li key={name} class={name === endedBy ? (failed ? 'ended bad' : 'ended') : undefined}>
            <span class="layer-name">{name}</span>
            <span class="layer-bar" aria-hidden="true">
              <span style={{ width: `${(100 * ms) / longest}%` }} />
            </span>
            <span class="layer-ms">{ms < 1 ? `${ms.toFixed(2)} ms` : milliseconds(ms)}</span>
            {name === endedBy && endedBy !== 'run' && (
              <span class={failed ? 'layer-end bad-text' : 'layer-end warn-text'}>
                {failed ? 'refused here' : 'answered here'}
                {message !== undefined && (
                  <>
                    {': '}
                    <Visible text={message} />
                  </>
                )}
              </span>
            )}
          </li>
        ))}
      </ol>
    </figure>
  )
}
