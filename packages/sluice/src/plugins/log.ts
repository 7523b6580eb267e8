/** The plugin `log`: one structured, redacted line per message. */

import type { Logger } from '../core/log.ts'
import type { SlotPlugin } from '../core/plugin.ts'
import { arrivalLog, logObserver, notificationLog } from '../observe/log-observer.ts'
import { rejectionLog } from '../observe/rejection-log.ts'

/** Logs one structured, redacted line per message. All other plugins log to the same logger. */
export const log = (logger: Logger): SlotPlugin<'log'> => ({
  slot: 'log',
  create({ name, clock, gauges }) {
    const arrived = arrivalLog(logger, name)
    if (logger.lost !== undefined)
      gauges.push({
        name: 'sluice_log_lines_lost_total',
        help: 'Log lines lost, of all servers with this log.',
        type: 'counter',
        read: () => logger.lost ?? 0,
      })
    return {
      logger: {
        info: (line) => logger.info({ ...line, server: name }),
        warn: (line) => logger.warn({ ...line, server: name }),
        error: (line) => logger.error({ ...line, server: name }),
      },
      observer: {
        ended: logObserver(logger, name),
        rejected: rejectionLog(logger, name),
        notified: notificationLog(logger, name, clock),
        ...(arrived && { arrived }),
      },
    }
  },
})
