/**
 * All failures, and which side can fix them: the user, who can ask differently, or the system, which may work later.
 * The texts are in `messages.ts`.
 */

const userCodes = [
  'INVALID_LOCATIONS_COUNT',
  'INVALID_LOCATION_FORMAT',
  'INVALID_COORD_RANGE',
  'INVALID_WAYPOINTS_RULES',
  'PARAM_CONFLICT_TIME',
  'INVALID_MAX_ALTERNATIVES',
  'PARAM_CONFLICT_ALTERNATIVES',
  'INVALID_TRAVEL_MODE',
  'INVALID_POST_BODY_COMBINATION',
  'PLACE_NOT_FOUND',
  'NO_ROUTE_FOUND',
  'NO_ROAD',
  'DESTINATION_NOT_FOUND',
  'DESTINATION_EXISTS',
  'TOO_MANY_DESTINATIONS',
  'TRAFFIC_NOT_AVAILABLE',
] as const
const systemCodes = ['PROVIDER_UNAVAILABLE', 'PROVIDER_REFUSED', 'PROVIDER_BUSY', 'STORAGE_UNAVAILABLE'] as const

export type UserCode = (typeof userCodes)[number]
export type SystemCode = (typeof systemCodes)[number]
export type FailureCode = UserCode | SystemCode

export interface Failure {
  readonly code: FailureCode
  /** The argument that is wrong; absent if no argument is. */
  readonly field?: string
  /** The subject of the text: a place or a number. */
  readonly subject?: string
  /** Names that the user may have meant. */
  readonly suggestions?: readonly string[]
  readonly retryAfterMs?: number
}

export class RouteError extends Error {
  override readonly name = 'RouteError'
  readonly failure: Failure
  constructor(failure: Failure, cause?: unknown) {
    super(failure.code, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

export const isUserCode = (code: FailureCode): code is UserCode => (userCodes as readonly string[]).includes(code)

/** Reports an unreadable answer as the provider's failure. */
export function parseProviderAnswer<T>(read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw new RouteError({ code: 'PROVIDER_UNAVAILABLE' }, thrown)
  }
}
