/** Pending tickets in the store of a single process. */
import { memoryStore } from 'sluice'
import type { Growth } from './growth.ts'
import { ticketGrowth } from './ticket-growth.ts'

export const growth: Growth = ticketGrowth('tickets, memory', memoryStore())
