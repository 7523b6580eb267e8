/**
 * A worker as an edge deployment uploads it: bundled and minified by esbuild, like Wrangler with Node compatibility.
 */
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'

/**
 * The size limit of a worker with one Zod tool, in thousands of bytes, gzipped. It was 50 before every worker got the
 * checks of results, of the cost of wrong arguments and of the state of a handshake, and 51 before every server could
 * carry tasks, parked calls and the definitions of a gateway. At 52 the state of a handshake and the notifications of
 * connections moved out again, to the code of connections.
 */
export const maxKilobytes = 52

export async function workerOf(source: Pick<BuildOptions, 'entryPoints' | 'stdin'>): Promise<string> {
  const { outputFiles } = await build({
    ...source,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  const [output] = outputFiles ?? []
  if (!output) throw new Error('esbuild wrote nothing')
  return output.text
}

export const gzippedKilobytes = (text: string): number => gzipSync(text, { level: 9 }).length / 1_000
