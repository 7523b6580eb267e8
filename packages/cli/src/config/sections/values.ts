/** Kinds of values that several sections of the configuration have. */

import * as z from 'zod'

export const count = (min: number): z.ZodNumber => z.int().min(min)
export const ms = (about: string): z.ZodOptional<z.ZodNumber> =>
  count(1).optional().describe(`${about}, in milliseconds`)
export const burst = z.number().min(1).describe('The largest burst')
export const perSecond = z.number().positive().describe('Calls added per second')
export const bucket = z.strictObject({ burst, perSecond })
export const url = z.string().regex(/^https?:\/\/[^\s]+$/, 'Must be an http or https URL')
export const path = z.string().min(1)
export const names = z.union([z.string(), z.array(z.string()).min(1)]).optional()
