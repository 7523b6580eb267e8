/** A log that is discarded, for servers in the process of the bench, whose output is for people. */
import { log } from 'sluice/plugins'

export const silentLogger = { info() {}, warn() {}, error() {} }
export const silentLog = log(silentLogger)
