/** Builds the answers: a route as readable steps, as data, as a resource and as a map; a failure as text and data. */

import type { ToolResult } from 'sluice'
import type { Failure } from './failure.ts'
import { isUserCode } from './failure.ts'
import { drawMap } from './map.ts'
import { formatDistance, formatDuration, failures as texts, words } from './messages.ts'
import type { Language, Place, Provider, Route, Step, TravelMode } from './route.ts'

export interface PlannedTrip {
  readonly id: string
  readonly requestId: string
  readonly provider: Pick<Provider, 'name' | 'approximate'>
  readonly places: readonly Place[]
  readonly mode: TravelMode
  readonly language: Language
  readonly routes: readonly Route[]
}

/** All steps are shown up to this number; above it, only the first and the last ones. */
const maxSteps = 30
const maxShownStops = 12

/** Returns the whole route, the content of `route://ID`. */
export const toJson = ({ id, requestId, provider, places, mode, routes }: PlannedTrip): string =>
  JSON.stringify({
    id,
    request_id: requestId,
    provider: provider.name,
    approximate: provider.approximate,
    mode,
    places,
    routes,
  })

/** `json` is the result of `toJson`, which takes a while for a long route. */
export function toAnswer(planned: PlannedTrip, json: string): ToolResult {
  const { id, provider, mode, routes, places, language } = planned
  return {
    content: [
      { type: 'text', text: toText(planned) },
      { type: 'resource', resource: { uri: `route://${id}`, mimeType: 'application/json', text: json } },
      {
        type: 'image',
        mimeType: 'image/svg+xml',
        data: new TextEncoder().encode(drawMap(planned)),
        annotations: { audience: ['user'] },
      },
    ],
    structuredContent: {
      id,
      provider: provider.name,
      approximate: provider.approximate,
      travel_mode: mode,
      origin: places[0],
      destination: places.at(-1),
      routes: routes.map(({ distanceM, durationS, steps, traffic }) => ({
        distance_m: Math.round(distanceM),
        duration_s: Math.round(durationS),
        distance: formatDistance(distanceM, language),
        duration: formatDuration(durationS, language),
        steps: steps.length,
        ...(traffic && { traffic_delay_s: traffic.delayS }),
      })),
    },
  }
}

function toText({ provider, places, mode, language, routes }: PlannedTrip): string {
  const { route, by, about, steps, other, approximate, delay, jam } = words[language]
  const [best, ...others] = routes
  if (!best) return ''
  const size = ({ distanceM, durationS }: Route): string =>
    `${provider.approximate ? about : ''}${formatDistance(distanceM, language)}, ${formatDuration(durationS, language)}`
  const { traffic } = best
  return [
    `${route}: ${places.map(({ name }) => name).join(' → ')} (${by[mode]})`,
    size(best),
    ...(traffic ? [`${delay}: ${formatDuration(traffic.delayS, language)}`] : []),
    ...(traffic?.sections ?? []).slice(0, 10).map(({ from, to, delayS }) => {
      const at = `${from.lat.toFixed(4)},${from.lon.toFixed(4)} → ${to.lat.toFixed(4)},${to.lon.toFixed(4)}`
      return `- ${jam} ${formatDuration(delayS, language)}: ${at}`
    }),
    ...(provider.approximate ? [approximate] : []),
    '',
    `${steps}:`,
    ...stepLines(best.steps, language),
    ...others.map((alternative, index) => `\n${other} ${index + 1}: ${size(alternative)}`),
  ].join('\n')
}

function stepLines(steps: readonly Step[], language: Language): readonly string[] {
  const lines = steps.map(
    ({ text, distanceM, durationS }, index) =>
      `${index + 1}. ${text} (${formatDistance(distanceM, language)}, ${formatDuration(durationS, language)})`,
  )
  if (lines.length <= maxSteps) return lines
  return [
    ...lines.slice(0, maxShownStops),
    words[language].left(lines.length - 2 * maxShownStops),
    ...lines.slice(-maxShownStops),
  ]
}

/**
 * Builds the two kinds of failure in the document: those that the user can fix, each with its field, and system
 * failures.
 */
export function toFailure(failures: readonly Failure[], language: Language, requestId: string): ToolResult {
  const [first] = failures
  const details = failures.map(({ code, field, subject = '', suggestions = [] }) => {
    const { message, hint } = texts[language][code]
    const names = suggestions.map((name) => `"${name}"`).join(', ')
    return {
      code,
      ...(field !== undefined && { field }),
      userMessage: message.replace('{}', () => subject),
      hint: names === '' ? hint : `${words[language].didYouMean(names)} ${hint}`,
    }
  })
  const isUser = first === undefined || isUserCode(first.code)
  const retryAfterMs = first?.retryAfterMs
  const lines = details.map(({ userMessage, hint, field }) => `- ${field ? `${field}: ` : ''}${userMessage} ${hint}`)
  return {
    isError: true,
    content: [
      { type: 'text', text: [isUser && details.length > 1 ? words[language].summary : [], ...lines].flat().join('\n') },
    ],
    structuredContent: {
      type: isUser ? 'USER_VALIDATION_ERROR' : 'SYSTEM_ERROR',
      locale: language,
      request_id: requestId,
      summary: details[0]?.userMessage ?? '',
      errors: details,
      ...(retryAfterMs !== undefined && { retry_after: Math.ceil(retryAfterMs / 1000) }),
    },
  }
}
