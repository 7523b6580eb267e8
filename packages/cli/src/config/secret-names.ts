/** Variables that are read only from the environment and never printed. Servers do not get them. */
export const secretNames = [
  'SLUICE_SECRET',
  'SLUICE_SECRET_FILE',
  'SLUICE_TOKEN',
  'SLUICE_REDIS_PASSWORD',
  'SLUICE_POSTGRES_PASSWORD',
  'SLUICE_WEBHOOK_SECRET',
  'SLUICE_CONFIG',
  'SLUICE_TENANT',
  'SLUICE_DEBUG',
] as const
