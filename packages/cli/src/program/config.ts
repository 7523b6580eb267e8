/** The options and examples of `sluice config`. */

import { configOption, jsonOption, type ProgramBuilder } from './builder.ts'

export function addConfig({ program, context, sub, runs }: ProgramBuilder): void {
  const configuration = sub(program, 'config', 'print the configuration or its schema', 'sluice config print')
  sub(
    configuration,
    'print',
    'print the effective configuration and the origin of each value',
    'sluice config print --config ./sluice.config.yaml',
  )
    .addOption(configOption)
    .addOption(jsonOption)
    .action(runs(async (options) => (await import('../commands/config.ts')).configPrint(context, options)))
  sub(
    configuration,
    'schema',
    'print the JSON Schema of the configuration',
    'sluice config schema > sluice.schema.json',
  ).action(runs(async () => (await import('../commands/config.ts')).configSchemaPrint(context)))
}
