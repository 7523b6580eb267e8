/** The plugin `elicitation`: asks the questions that tools, resources and prompts declare. */

import type { SlotPlugin } from '../core/plugin.ts'
import { createSeal } from '../core/seal.ts'
import { elicitationLayer } from '../layers/elicitation.ts'
import { observeElicitation } from '../layers/observe-elicitation.ts'
import { bridge } from '../protocol/legacy/bridge.ts'

/** Asks what definitions declare as questions. A server whose definitions ask does not start without it. */
export const elicitation = (): SlotPlugin<'elicitation'> => ({
  slot: 'elicitation',
  create: ({ secrets, name, clock, newErrorId }) => ({
    layer: elicitationLayer(createSeal(secrets, `state ${name}`, clock)),
    legacyBridge: (observers) => (next) => observeElicitation(observers, clock, newErrorId)(bridge(next)),
  }),
})
