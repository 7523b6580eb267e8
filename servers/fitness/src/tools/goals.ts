/** Tools for goals and their progress. */

import { randomUUID } from 'node:crypto'
import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { toon } from 'sluice/toon'
import * as z from 'zod'
import type { Activity, Goal } from '../activity.ts'
import { goalTypes, sports } from '../activity.ts'
import type { App } from '../app.ts'
import { isSynthetic, trainingLogFor } from '../app.ts'
import { round } from '../training.ts'
import { readOnlyTool } from './activity-rows.ts'

const maxGoals = 100

export function goalTools(app: App): readonly Tool[] {
  return [
    tool({
      name: 'set_goal',
      description: 'Set a goal: kilometres (distance), hours (time), activities (frequency), or a number of your own.',
      input: z.object({
        title: z.string().min(1).max(200),
        goal_type: z.enum(goalTypes),
        target_value: z.number().positive().max(1_000_000),
        target_date: z.iso.date().describe('The last day, such as 2026-12-31'),
        sport_type: z.enum(sports).optional(),
      }),
      annotations: { destructiveHint: false },
      listed: true,
      async run({ title, goal_type: type, target_value: target, target_date: until, sport_type: sport }, context) {
        const log = await trainingLogFor(app, context)
        const from = new Date(app.clock.now()).toISOString().slice(0, 10)
        if (until < from) throw fail('That day is in the past. Choose a later one.')
        if ((await log.goals()).length >= maxGoals) throw fail(`The limit of ${maxGoals} goals is reached.`)
        const goal: Goal = { id: randomUUID(), title: title.toWellFormed(), type, target, from, until, sport }
        await log.setGoal(goal)
        return {
          goal_id: goal.id,
          title: goal.title,
          goal_type: type,
          target_value: target,
          from,
          target_date: until,
          ...(sport && { sport_type: sport }),
        }
      },
    }),
    tool({
      name: 'track_progress',
      description: 'The progress of all goals, or of one. Made-up activities do not count.',
      input: z.object({ goal_id: z.string().max(100).optional() }),
      ...readOnlyTool,
      format: toon,
      async run({ goal_id: id }, context) {
        const log = await trainingLogFor(app, context)
        const goals = (await log.goals()).filter((goal) => id === undefined || goal.id === id)
        if (goals.length === 0 && id !== undefined) throw fail(`Goal not found: ${id}.`)
        if (goals.length === 0) return { goals: [], next: 'No goal is set yet. Set one with set_goal.' }
        const now = app.clock.now()
        const rows = []
        for (const goal of goals) {
          const after = Date.parse(goal.from) / 1000
          const before = Date.parse(goal.until) / 1000 + 86_400
          const all = await log.list({ sport: goal.sport, after, before })
          const done = goalProgress(
            goal,
            all.filter(({ provider }) => provider !== 'synthetic'),
          )
          const elapsed = Math.min(1, Math.max(0, (now / 1000 - after) / (before - after)))
          rows.push({
            goal_id: goal.id,
            title: goal.title,
            done: round(done),
            target: goal.target,
            percent: round((done / goal.target) * 100),
            time_percent: round(elapsed * 100),
            on_track: done / goal.target >= elapsed,
            until: goal.until,
            // Other tools show them, but they never count here.
            synthetic_left_out: isSynthetic(all),
          })
        }
        return { goals: rows }
      },
    }),
  ]
}

function goalProgress({ type }: Goal, activities: readonly Activity[]): number {
  const sum = (of: (each: Activity) => number): number => activities.reduce((total, each) => total + of(each), 0)
  if (type === 'distance') return sum(({ distanceM }) => distanceM) / 1000
  if (type === 'time') return sum(({ durationS }) => durationS) / 3600
  if (type === 'frequency') return activities.length
  // A performance is the best speed in km/h; a custom goal counts activities.
  if (type === 'performance')
    return activities.reduce(
      (best, { distanceM, durationS }) => Math.max(best, durationS > 0 ? (distanceM / durationS) * 3.6 : 0),
      0,
    )
  return activities.length
}
