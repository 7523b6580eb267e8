/** Makes routes of legs: the line on the map, and the steps that a person reads. */

import { words } from '../messages.ts'
import type { Language, Place, Route, Step } from '../route.ts'
import type { Leg } from './graph.ts'
import { englishNames } from './roads.ts'

/** `basis` is `towns` if no roads are known there. */
export function toRoute(legs: readonly Leg[], language: Language, basis: 'roads' | 'towns'): Route {
  const first = legs[0]?.from
  const merged = basis === 'roads' ? byRoad(legs) : byMilestone(legs)
  return {
    distanceM: sum(legs, 'distanceM'),
    durationS: sum(legs, 'durationS'),
    line: [...(first ? [pointOf(first)] : []), ...legs.map(({ to }) => pointOf(to))],
    steps: merged.map((group) => toStep(group, language, basis)),
    ...(basis === 'towns' && { basis }),
  }
}

export const displayName = (name: string, language: Language): string =>
  language === 'en' ? (englishNames[name] ?? name) : name

function toStep(group: readonly Leg[], language: Language, basis: 'roads' | 'towns'): Step {
  const { follow, join, goOn, ferry } = words[language]
  const to = displayName(group.at(-1)?.to.name ?? '', language)
  const [first] = group
  const local = basis === 'towns' ? goOn : join
  const road = first?.road
  return {
    text: first?.kind === 'ferry' ? ferry(road ?? '', to) : road === undefined ? local(to) : follow(road, to),
    distanceM: sum(group, 'distanceM'),
    durationS: sum(group, 'durationS'),
    ...(first?.kind === 'ferry' && { isFerry: true }),
  }
}

/** Merges consecutive legs on one road into one step. */
function byRoad(legs: readonly Leg[]): readonly (readonly Leg[])[] {
  const groups: Leg[][] = []
  for (const leg of legs) {
    const last = groups.at(-1)
    if (last?.[0]?.road === leg.road && leg.road !== undefined) last?.push(leg)
    else groups.push([leg])
  }
  return groups
}

/** About this many steps for a route from town to town, each of them to a town that people know. */
const milestones = 10
const minStepM = 50_000

function byMilestone(legs: readonly Leg[]): readonly (readonly Leg[])[] {
  const target = Math.max(minStepM, sum(legs, 'distanceM') / milestones)
  const groups: (readonly Leg[])[] = []
  for (let from = 0; from < legs.length; ) {
    const to = endOfStep(legs, from, target)
    groups.push(legs.slice(from, to + 1))
    from = to + 1
  }
  return groups
}

/** Returns the leg to the largest town in reach. A bridge or a ferry is a step by itself. */
function endOfStep(legs: readonly Leg[], from: number, target: number): number {
  if (legs[from]?.road !== undefined) return from
  let [best, length] = [from, 0]
  for (let at = from; at < legs.length; at++) {
    if (legs[at]?.road !== undefined) return at - 1
    length += legs[at]?.distanceM ?? 0
    if (at === legs.length - 1 && length <= 1.4 * target) return at
    if (length > 1.4 * target) break
    const isLarger = (legs[at]?.population ?? 0) >= (legs[best]?.population ?? 0)
    if (isLarger || (length >= 0.5 * target && sum(legs.slice(from, best + 1), 'distanceM') < 0.5 * target)) best = at
  }
  return best
}

const pointOf = ({ lat, lon }: Place): { lat: number; lon: number } => ({ lat, lon })
const sum = (legs: readonly Leg[], what: 'distanceM' | 'durationS'): number =>
  legs.reduce((total, leg) => total + leg[what], 0)
