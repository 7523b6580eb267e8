/** The options and examples of `sluice doctor`. */

import { collect, configOption, dataOption, jsonOption, type ProgramBuilder } from './builder.ts'

export function addDoctor({ program, context, sub, runs }: ProgramBuilder): void {
  sub(
    program,
    'doctor [url]',
    'check this machine and its configuration, or a server',
    'sluice doctor',
    'sluice doctor https://mcp.example.com/mcp --token sk_…',
  )
    .addOption(dataOption)
    .option('-t, --token <token>', 'a key or token (default: SLUICE_TOKEN)')
    .option('-H, --header <line>', 'a request header, as "Name: value"; repeatable', collect)
    .addOption(configOption)
    .addOption(jsonOption)
    .action(
      runs(async (url: string | undefined, options) =>
        (await import('../commands/doctor.ts')).doctor(context, url, options),
      ),
    )
}
