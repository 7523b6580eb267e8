/**
 * The parts an operator can add to a server: what each takes from its surroundings, and what it brings. Their order is not
 * here but in `server.ts`. Each is a function of its own, so that a bundle holds only those that are named.
 */

import type { Logger } from './core/log.ts'
import { dayMs } from './core/once-record.ts'
import type { Part } from './core/part.ts'
import { createSeal } from './core/seal.ts'
import { ask as askLayer } from './layers/ask.ts'
import type { AuthenticateOptions } from './layers/authenticate.ts'
import { authenticate as authenticateLayer, publicMethods } from './layers/authenticate.ts'
import type { ConcurrencyOptions } from './layers/concurrency.ts'
import { concurrency as concurrencyLayer } from './layers/concurrency.ts'
import { createIdentify, unauthorized } from './layers/identities/identify.ts'
import { createWatch } from './layers/identities/watch.ts'
import type { LimitOptions } from './layers/limit.ts'
import { limit as limitLayer } from './layers/limit.ts'
import type { OnceOptions } from './layers/once.ts'
import { once as onceLayer } from './layers/once.ts'
import { createGiveBack } from './layers/once-give-back.ts'
import { createTake } from './layers/take.ts'
import type { TenantOptions } from './layers/tenant.ts'
import { tenant as tenantLayer } from './layers/tenant.ts'
import { unanswered } from './layers/unanswered.ts'
import type { AuditOptions } from './observe/audit.ts'
import { createAudit } from './observe/audit.ts'
import { earlyLine } from './observe/early.ts'
import { arrivalLine, line, notificationLine } from './observe/line.ts'
import type { MetricsOptions } from './observe/metrics.ts'
import { createMetrics } from './observe/metrics.ts'
import { createRetention } from './observe/retention.ts'
import type { HealthOptions } from './operate/health.ts'
import { createHealth } from './operate/health.ts'
import { numbersPage } from './operate/numbers.ts'
import type { Readers } from './operate/readers.ts'
import { bridge } from './protocol/legacy/bridge.ts'
import { memoryStore } from './stores/memory.ts'

/** One structured, redacted line per message. Every other part's lines go to the same logger. */
export const log =
  (logger: Logger): Part<'log'> =>
  ({ name, clock, counts }) => {
    const arrived = arrivalLine(logger, name)
    if (logger.lost !== undefined)
      counts.push({
        name: 'sluice_log_lines_lost_total',
        help: 'Log lines lost, of all servers with this log.',
        type: 'counter',
        read: () => logger.lost ?? 0,
      })
    return {
      part: 'log',
      logger: {
        info: (line) => logger.info({ ...line, server: name }),
        warn: (line) => logger.warn({ ...line, server: name }),
        error: (line) => logger.error({ ...line, server: name }),
      },
      sink: line(logger, name),
      refused: earlyLine(logger, name),
      notified: notificationLine(logger, name, clock),
      ...(arrived && { arrived }),
    }
  }

/** Who may call, by which credentials. Without it everybody is `anonymous`. */
export const authenticate =
  (options: AuthenticateOptions): Part<'authenticate'> =>
  ({ clock }) => {
    const identify = createIdentify(options, clock)
    const isPublic = publicMethods(options)
    const watch = createWatch(options.verifiers, identify, clock)
    return {
      part: 'authenticate',
      layer: authenticateLayer(options, clock, identify, watch),
      async admit(via, stop, method = '') {
        const call = { via, params: {}, facts: {} }
        const caller = await identify(call)
        if (!caller && !isPublic.has(method)) throw unauthorized({})
        if (caller && stop) watch({ ...call, stop }, caller)
      },
      async close() {
        watch.close()
      },
    }
  }

/** For whom callers work. Without it there is one tenant. */
export const tenant =
  (options: TenantOptions): Part<'tenant'> =>
  ({ tenants }) => ({ part: 'tenant', layer: tenantLayer(options, tenants) })

/** Rates per tenant, caller and target. Without it there are none. */
export const limit =
  (options: LimitOptions = {}): Part<'limit'> =>
  ({ store, clock, logger }) => {
    const local = store.inProcess ? store : memoryStore(clock)
    return { part: 'limit', layer: limitLayer(options, createTake({ store, local, clock, logger })) }
  }

/** Calls at once per tenant and tool. Without it a noisy neighbour can take every slot. */
export const concurrency =
  (options: ConcurrencyOptions = {}): Part<'concurrency'> =>
  ({ uses, counts }) => ({ part: 'concurrency', layer: concurrencyLayer(options, uses, counts) })

/** What tools declare as questions is asked. A server whose definitions ask does not start without it. */
export const ask =
  (): Part<'ask'> =>
  ({ secrets, name, clock, reference }) => ({
    part: 'ask',
    layer: askLayer(createSeal(secrets, `state ${name}`, clock)),
    bridge: (sinks) => (next) => unanswered(sinks, clock, reference)(bridge(next)),
  })

/** Work under an idempotency key runs once. Without it a call that brings a key is refused. */
export const once =
  (options: Pick<OnceOptions, 'keepMs' | 'maxRecord'> = {}): Part<'once'> =>
  ({ own, clock, logger, reference }) => {
    const giveBack = createGiveBack(own, clock, options.keepMs ?? dayMs)
    return {
      part: 'once',
      layer: onceLayer(own, { clock, logger, reference, giveBack, ...options }),
      close: async () => giveBack.close(),
    }
  }

/** A hash-chained record of every call that ran or was refused, per tenant, in the store. */
export const audit =
  (options: AuditOptions = {}): Part<'audit'> =>
  (services) => {
    const { store, clock, reference, counts, hasSecret } = services
    if (options.retention && !hasSecret)
      throw new TypeError('audit: "retention" signs what remains, so set "secret" in the options of createServer')
    const kept = createAudit(store, clock, reference, options)
    const retention = options.retention && createRetention(options.retention, services)
    counts.push({
      name: 'sluice_audit_dropped_total',
      help: 'Audit records lost.',
      type: 'counter',
      read: () => kept.dropped,
    })
    return {
      part: 'audit',
      sink: kept.sink,
      layer: kept.started,
      record: kept.record,
      ready: async () => retention?.start(),
      async close() {
        await retention?.close()
        await kept.close()
      },
    }
  }

/** Counters and histograms, at `/metrics`. */
export const metrics =
  ({ readers, ...options }: MetricsOptions & { readonly readers?: Readers } = {}): Part<'metrics'> =>
  ({ counts, name }) => {
    const { sink, refused, text } = createMetrics(options, counts, name)
    return {
      part: 'metrics',
      sink,
      refused: ({ reason }) => refused(String(reason)),
      page: numbersPage(text, readers),
    }
  }

/** `/healthz` and `/readyz`. */
export const health =
  (options: Pick<HealthOptions, 'readers' | 'withinMs'> = {}): Part<'health'> =>
  ({ clock, store, closing }) => ({
    part: 'health',
    page: createHealth({ clock, store, draining: closing, ...options }),
  })
