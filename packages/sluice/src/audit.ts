/** The audit: made before its servers, read, verified and pruned. */

export type { Audit, AuditOptions, CreateAuditOptions } from './observe/audit.ts'
export { createAudit } from './observe/audit.ts'
export type { AuditEntry, AuditPage } from './observe/chain-read.ts'
export { auditTenants, eachAuditTenant, readAllAudit, readAudit } from './observe/chain-read.ts'
export type { AuditVerdict, VerifyOptions } from './observe/chain-verify.ts'
export { verifyAudit } from './observe/chain-verify.ts'
export type { PruneOptions, PruneResult, RetentionLimits } from './observe/prune.ts'
export { pruneAudit } from './observe/prune.ts'
export type { Retention } from './observe/retention.ts'
export { limitsFor } from './observe/retention.ts'
