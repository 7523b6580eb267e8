/** Not written yet. */

import type { Open } from 'sluice'
import { defineServer } from 'sluice'

export const open: Open = async () => ({
  definition: defineServer({ info: { name: 'fitness', version: '0.1.0' } }),
  state: 'not written yet',
  close: async () => {},
})
