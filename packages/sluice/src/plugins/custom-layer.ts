/** The plugin `customLayer`: layers of other people, at one place in the pipeline. */

import type { Layer } from '../core/call.ts'
import type { SlotPlugin } from '../core/plugin.ts'

/** Adds a layer that sees validated calls. It runs before elicitation and approval, so nothing of it runs after them. */
export const customLayer = (layer: Layer): SlotPlugin<'custom'> => ({ slot: 'custom', create: () => ({ layer }) })
