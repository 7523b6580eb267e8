/** The server definition: tools, activities and the load chart as resources, and a weekly review. */

import type { ServerDefinition } from 'sluice'
import { defineServer, prompt, resource } from 'sluice'
import type { App } from './app.ts'
import { isSynthetic, trainingLogFor } from './app.ts'
import { loadChart } from './chart.ts'
import { description, version } from './package.ts'
import { activityTools } from './tools/activities.ts'
import { toActivityDetail } from './tools/activity-rows.ts'
import { analysisTools } from './tools/analysis.ts'
import { connectionTools } from './tools/connections.ts'
import { goalTools } from './tools/goals.ts'
import { nutritionTools } from './tools/nutrition.ts'
import { recoveryTools } from './tools/recovery.ts'
import { loadOf } from './training.ts'

const perPage = 100

export const defineFitness = (app: App): ServerDefinition =>
  defineServer({
    name: 'fitness',
    version,
    title: 'Fitness',
    description,
    instructions:
      'Activities, training load, sleep, recovery, nutrition and goals of one athlete or team. If there are none, offer import_activities or connect_provider. Answers with synthetic: true are made up; tell the user. Pass on what "assumes" says.',
    tools: [
      ...activityTools(app),
      ...analysisTools(app),
      ...recoveryTools(app),
      ...nutritionTools(app),
      ...goalTools(app),
      ...connectionTools(app),
    ],
    resources: [
      resource({
        uri: 'activity://{id}',
        name: 'activity',
        description: 'One activity with all its fields.',
        mimeType: 'application/json',
        async list({ cursor }, context) {
          const offset = Number(cursor ?? 0)
          const found = await (await trainingLogFor(app, context)).list({ limit: perPage, offset })
          return {
            resources: found.map(({ id, name, startedAt, provider }) => ({
              uri: `activity://${id}`,
              name: `${new Date(startedAt * 1000).toISOString().slice(0, 10)} ${name}${provider === 'synthetic' ? ' (made up)' : ''}`,
              mimeType: 'application/json',
            })),
            ...(found.length === perPage && { next: String(offset + perPage) }),
          }
        },
        async read({ id }, context) {
          const found = await (await trainingLogFor(app, context)).get(String(id))
          return found && JSON.stringify(toActivityDetail(found))
        },
      }),
      resource({
        uri: 'chart://training-load',
        name: 'training-load',
        title: 'Training load',
        description: 'Fitness, fatigue and form of the last year as a chart.',
        mimeType: 'image/svg+xml',
        async read(_, context) {
          const log = await trainingLogFor(app, context)
          const all = await log.list()
          const days = loadOf(all, await log.athlete(), app.clock.now())
          return loadChart(days.slice(-365), isSynthetic(all) ? 'Training load (made-up data)' : 'Training load')
        },
      }),
    ],
    prompts: [
      prompt({
        name: 'weekly-review',
        description: 'Look back at a week and plan the next.',
        run: () =>
          'Review my last week of training. Call get_activities (format toon) for the last seven days, analyze_training_load and track_progress. Say what went well, what my form (TSB) means, and whether I am on track for my goals. Then propose the next seven days, day by day. If the data is synthetic, say so first.',
      }),
    ],
  })
