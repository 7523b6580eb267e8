/**
 * Tools for energy and nutrients, from body measures and the energy of stored activities. The formulas are published:
 * Mifflin and St Jeor (1990) for the resting need, and the joint position of ACSM and Academy of Nutrition (2016) for
 * carbohydrate and protein.
 */

import type { Tool } from 'sluice'
import { tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { findActivity, isSynthetic, trainingLogFor } from '../app.ts'
import { round, stressOf } from '../training.ts'
import { activityId, readOnlyTool } from './activity-rows.ts'

const weight = z.number().min(30).max(250).describe('Body weight in kilograms')
const advice = 'General guidance from published formulas, not medical advice.'
/** Sitting and walking through a day, without training. */
const everydayFactor = 1.4
const goals = { lose: -400, maintain: 0, gain: 300 } as const

export function nutritionTools(app: App): readonly Tool[] {
  return [
    tool({
      name: 'calculate_daily_nutrition',
      description:
        'Energy, protein, carbohydrate and fat for a day, from body measures and the training of the last seven days.',
      input: z.object({
        weight_kg: weight,
        height_cm: z.number().min(120).max(230),
        age: z.int().min(14).max(100),
        sex: z.enum(['female', 'male']),
        goal: z.enum(['lose', 'maintain', 'gain']).default('maintain'),
      }),
      ...readOnlyTool,
      async run({ weight_kg: kg, height_cm: cm, age, sex, goal }, context) {
        const log = await trainingLogFor(app, context)
        const week = await log.list({ after: Math.floor(app.clock.now() / 1000) - 7 * 86_400 })
        const measured = week.filter(({ calories }) => calories !== undefined)
        const trainingKcal = measured.reduce((sum, { calories }) => sum + (calories ?? 0), 0) / 7
        const restingKcal = 10 * kg + 6.25 * cm - 5 * age + (sex === 'male' ? 5 : -161)
        const energy = Math.max(1200, restingKcal * everydayFactor + trainingKcal + goals[goal])
        const weekHours = week.reduce((sum, { durationS }) => sum + durationS, 0) / 3600
        const protein = kg * (goal === 'lose' ? 1.8 : weekHours > 3 ? 1.6 : 1.2)
        const fat = (energy * 0.28) / 9
        const carbohydrate = Math.max(0, (energy - protein * 4 - fat * 9) / 4)
        return {
          synthetic: isSynthetic(week),
          energy_kcal: Math.round(energy),
          resting_kcal: Math.round(restingKcal),
          training_kcal_per_day: Math.round(trainingKcal),
          protein_g: Math.round(protein),
          carbohydrate_g: Math.round(carbohydrate),
          fat_g: Math.round(fat),
          carbohydrate_g_per_kg: round(carbohydrate / kg),
          assumes: [
            `Resting need by Mifflin and St Jeor, times ${everydayFactor} for a day without training; 28 % of the energy as fat.`,
            `Training of the last seven days: ${week.length} activities, ${round(weekHours)} h; ${measured.length} of them have their energy.`,
            ...(goal === 'maintain' ? [] : [`${goals[goal]} kcal a day to ${goal} weight.`]),
            advice,
          ],
        }
      },
    }),
    tool({
      name: 'get_nutrient_timing',
      description:
        'What to eat and drink before, during and after an activity: one of the log, or one of a given length.',
      input: z.object({
        weight_kg: weight,
        activity_id: activityId.optional(),
        duration_min: z.number().min(10).max(1440).optional().describe('Of a planned activity; 60 by default'),
        intensity: z.enum(['easy', 'moderate', 'hard']).optional(),
      }),
      ...readOnlyTool,
      async run({ weight_kg: kg, activity_id: id, duration_min: planned = 60, intensity: asked }, context) {
        const log = await trainingLogFor(app, context)
        const activity = id === undefined ? undefined : await findActivity(log, id)
        const minutes = activity ? activity.durationS / 60 : planned
        const stress = activity && stressOf(activity, await log.athlete()) / Math.max(minutes / 60, 0.1)
        const intensity =
          asked ?? (stress === undefined ? 'moderate' : stress < 45 ? 'easy' : stress < 75 ? 'moderate' : 'hard')
        const before = minutes < 60 && intensity === 'easy' ? [0, 1] : minutes < 120 ? [1, 2] : [2, 4]
        const during = minutes < 60 || intensity === 'easy' ? [0, 30] : minutes < 150 ? [30, 60] : [60, 90]
        const after = intensity === 'easy' ? [0.5, 1] : [1, 1.2]
        const grams = (range: readonly number[], factor: number): string =>
          range.map((each) => Math.round(each * factor)).join('–')
        return {
          synthetic: activity ? isSynthetic([activity]) : false,
          duration_min: Math.round(minutes),
          intensity,
          before: { hours: '1–4', carbohydrate_g: grams(before, kg) },
          during: { carbohydrate_g_per_hour: during.join('–'), water_ml_per_hour: '400–800' },
          after: { hours: 'within 2', carbohydrate_g: grams(after, kg), protein_g: String(Math.round(0.3 * kg)) },
          assumes: [
            activity
              ? 'Intensity from the training stress per hour of this activity.'
              : 'Length and intensity as given; moderate by default.',
            `Amounts for ${kg} kg by the position of ACSM (2016). ${advice}`,
          ],
        }
      },
    }),
  ]
}
