/** Builds the answers: a route as readable steps, as data, as a resource and as a map; a failure as text and data. */

import type { ToolResult } from 'sluice'
import type { MapTrip } from './atlas/map.ts'
import type { Failure } from './failure.ts'
import { isUserCode } from './failure.ts'
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
const maxSections = 10

/** Returns the whole route, the content of `route://ID`. */
export const toJson = ({ id, requestId, provider, places, mode, language, routes }: PlannedTrip): string =>
  JSON.stringify({
    id,
    request_id: requestId,
    provider: provider.name,
    approximate: provider.approximate,
    mode,
    language,
    places,
    routes,
  })

/** Reads what `toJson` wrote: the part that a map shows. */
export function toMapTrip(json: string): MapTrip {
  const { places, routes, language = 'en', approximate } = JSON.parse(json) as MapTrip & { language?: Language }
  return { places, routes, language, approximate }
}

/** `json` is the result of `toJson`, which takes a while for a long route; `png` is the map. */
export function toAnswer(planned: PlannedTrip, json: string, png: Uint8Array): ToolResult {
  const { id } = planned
  return {
    content: [
      { type: 'text', text: toText(planned) },
      { type: 'resource', resource: { uri: `route://${id}`, mimeType: 'application/json', text: json } },
      { type: 'image', mimeType: 'image/png', data: png, annotations: { audience: ['user'] } },
      { type: 'resource_link', uri: `route://${id}/map.svg`, name: 'map.svg', mimeType: 'image/svg+xml' },
    ],
    structuredContent: toData(planned),
  }
}

/** Everything that the text says, because some clients show the model only this. */
function toData({ id, provider, mode, routes, places, language }: PlannedTrip): Record<string, unknown> {
  const [best] = routes
  const duration = (seconds: number): string => formatDuration(seconds, language, provider.approximate)
  const size = ({ distanceM, durationS, traffic }: Route): Record<string, unknown> => ({
    distance_m: Math.round(distanceM),
    duration_s: Math.round(durationS),
    distance: formatDistance(distanceM, language),
    duration: duration(durationS),
    ...(traffic && { traffic_delay_s: traffic.delayS, traffic_delay: duration(traffic.delayS) }),
  })
  const shown = best ? shownSteps(best.steps) : []
  return {
    id,
    provider: provider.name,
    approximate: provider.approximate,
    ...(best && notesOf(best, provider, language).length > 0 && { notes: notesOf(best, provider, language) }),
    travel_mode: mode,
    origin: places[0],
    destination: places.at(-1),
    ...(places.length > 2 && { waypoints: places.slice(1, -1) }),
    routes: routes.map((route, index) => ({
      ...size(route),
      steps_total: route.steps.length,
      ...(index === 0 && {
        steps: shown.map(({ number, step: { text, distanceM, durationS } }) => ({
          number,
          text,
          distance: formatDistance(distanceM, language),
          duration: duration(durationS),
        })),
      }),
      ...(index === 0 &&
        route.traffic && {
          traffic: route.traffic.sections
            .slice(0, maxSections)
            .map(({ from, to, delayS }) => ({ from, to, delay: duration(delayS) })),
        }),
    })),
    resource: `route://${id}`,
    map: `route://${id}/map.svg`,
  }
}

const notesOf = (route: Route, provider: PlannedTrip['provider'], language: Language): readonly string[] => {
  const { approximate, betweenTowns, ferryNote } = words[language]
  return [
    ...(provider.approximate ? [route.basis === 'towns' ? betweenTowns : approximate] : []),
    ...(route.steps.some(({ isFerry }) => isFerry) ? [ferryNote] : []),
  ]
}

function toText({ provider, places, mode, language, routes }: PlannedTrip): string {
  const { route, by, about, steps, other, delay, jam } = words[language]
  const [best, ...others] = routes
  if (!best) return ''
  const duration = (seconds: number): string => formatDuration(seconds, language, provider.approximate)
  const size = ({ distanceM, durationS }: Route): string =>
    `${provider.approximate ? about : ''}${formatDistance(distanceM, language)}, ${duration(durationS)}`
  const { traffic } = best
  return [
    `${route}: ${places.map(({ name }) => name).join(' → ')} (${by[mode]})`,
    size(best),
    ...(traffic ? [`${delay}: ${duration(traffic.delayS)}`] : []),
    ...(traffic?.sections ?? []).slice(0, maxSections).map(({ from, to, delayS }) => {
      const at = `${from.lat.toFixed(4)},${from.lon.toFixed(4)} → ${to.lat.toFixed(4)},${to.lon.toFixed(4)}`
      return `- ${jam} ${duration(delayS)}: ${at}`
    }),
    ...notesOf(best, provider, language),
    '',
    `${steps}:`,
    ...stepLines(best.steps, language, duration),
    ...others.map((alternative, index) => `\n${other} ${index + 1}: ${size(alternative)}`),
  ].join('\n')
}

interface NumberedStep {
  readonly number: number
  readonly step: Step
}

function shownSteps(steps: readonly Step[]): readonly NumberedStep[] {
  const numbered = steps.map((step, index) => ({ number: index + 1, step }))
  return steps.length <= maxSteps ? numbered : [...numbered.slice(0, maxShownStops), ...numbered.slice(-maxShownStops)]
}

function stepLines(
  steps: readonly Step[],
  language: Language,
  duration: (seconds: number) => string,
): readonly string[] {
  const shown = shownSteps(steps)
  const lines = shown.map(
    ({ number, step: { text, distanceM, durationS } }) =>
      `${number}. ${text} (${formatDistance(distanceM, language)}, ${duration(durationS)})`,
  )
  if (shown.length === steps.length) return lines
  const left = words[language].left(steps.length - shown.length)
  return [...lines.slice(0, maxShownStops), left, ...lines.slice(maxShownStops)]
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
