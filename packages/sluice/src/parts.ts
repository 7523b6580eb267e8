/**
 * The parts an operator can add to a server: what each takes from its surroundings, and what it brings. Their order is not
 * here but in `server.ts`. Each is a function of its own, so that a bundle holds only those that are named.
 */

import { dayMs } from './core/idempotency-record.ts'
import type { Logger } from './core/log.ts'
import type { Part } from './core/part.ts'
import { createSeal } from './core/seal.ts'
import { ask as askLayer } from './layers/ask.ts'
import type { AuthenticateOptions } from './layers/authenticate.ts'
import { authenticate as authenticateLayer, publicMethods } from './layers/authenticate.ts'
import type { ConcurrencyOptions } from './layers/concurrency.ts'
import { concurrency as concurrencyLayer } from './layers/concurrency.ts'
import type { IdempotencyOptions } from './layers/idempotency.ts'
import { idempotency as onceLayer } from './layers/idempotency.ts'
import { createCredentialAuthenticator, unauthorized } from './layers/identities/authenticate-credential.ts'
import { createCredentialMonitor } from './layers/identities/credential-monitor.ts'
import { observeElicitation } from './layers/observe-elicitation.ts'
import type { RateLimitOptions } from './layers/rate-limit.ts'
import { rateLimit as limitLayer } from './layers/rate-limit.ts'
import { createClaimReleaser } from './layers/release-claim.ts'
import { takeWithFallback } from './layers/shared-bucket.ts'
import type { TenantsOptions } from './layers/tenants.ts'
import { tenants as tenantLayer } from './layers/tenants.ts'
import type { AuditOptions } from './observe/audit.ts'
import { createAudit } from './observe/audit.ts'
import { arrivalLog, logObserver, notificationLog } from './observe/log-observer.ts'
import type { MetricsOptions } from './observe/metrics.ts'
import { createMetrics } from './observe/metrics.ts'
import { rejectionLog } from './observe/rejection-log.ts'
import { createRetention } from './observe/retention.ts'
import type { HealthOptions } from './operate/health.ts'
import { createHealth } from './operate/health.ts'
import { metricsPage } from './operate/metrics-page.ts'
import type { PageAccess } from './operate/page-access.ts'
import { bridge } from './protocol/legacy/bridge.ts'
import { memoryStore } from './stores/memory.ts'

/** One structured, redacted line per message. Every other part's lines go to the same logger. */
export const log =
  (logger: Logger): Part<'log'> =>
  ({ name, clock, counts }) => {
    const arrived = arrivalLog(logger, name)
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
      sink: logObserver(logger, name),
      refused: rejectionLog(logger, name),
      notified: notificationLog(logger, name, clock),
      ...(arrived && { arrived }),
    }
  }

/** Who may call, by which credentials. Without it everybody is `anonymous`. */
export const authenticate =
  (options: AuthenticateOptions): Part<'authenticate'> =>
  ({ clock }) => {
    const identify = createCredentialAuthenticator(options, clock)
    const isPublic = publicMethods(options)
    const watch = createCredentialMonitor(options.verifiers, identify, clock)
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
  (options: TenantsOptions): Part<'tenant'> =>
  ({ tenants }) => ({ part: 'tenant', layer: tenantLayer(options, tenants) })

/** Rates per tenant, caller and target. Without it there are none. */
export const limit =
  (options: RateLimitOptions = {}): Part<'limit'> =>
  ({ store, clock, logger }) => {
    const local = store.inProcess ? store : memoryStore(clock)
    return { part: 'limit', layer: limitLayer(options, takeWithFallback({ store, local, clock, logger })) }
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
    bridge: (sinks) => (next) => observeElicitation(sinks, clock, reference)(bridge(next)),
  })

/** Work under an idempotency key runs once. Without it a call that brings a key is refused. */
export const once =
  (options: Pick<IdempotencyOptions, 'keepMs' | 'maxRecord'> = {}): Part<'once'> =>
  ({ own, clock, logger, reference }) => {
    const giveBack = createClaimReleaser(own, clock, options.keepMs ?? dayMs)
    return {
      part: 'once',
      layer: onceLayer(own, { clock, logger, newErrorId: reference, claimReleaser: giveBack, ...options }),
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
      sink: kept.observer,
      layer: kept.layer,
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
  ({ readers, ...options }: MetricsOptions & { readonly readers?: PageAccess } = {}): Part<'metrics'> =>
  ({ counts, name }) => {
    const { observer: sink, rejected: refused, text } = createMetrics(options, counts, name)
    return {
      part: 'metrics',
      sink,
      refused: ({ reason }) => refused(String(reason)),
      page: metricsPage(text, readers),
    }
  }

/** `/healthz` and `/readyz`. */
export const health =
  (options: Pick<HealthOptions, 'readers' | 'storeTimeoutMs'> = {}): Part<'health'> =>
  ({ clock, store, closing }) => ({
    part: 'health',
    page: createHealth({ clock, store, isDraining: closing, ...options }),
  })
