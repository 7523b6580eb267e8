/** The upstream that the section chose before it started a proxy or gateway: a URL, or a script to run on stdio. */
export function upstreamTarget(): { readonly url: string } | { readonly command: string; readonly args: string[] } {
  const { BENCH_UPSTREAM } = process.env
  if (BENCH_UPSTREAM === undefined) throw new Error('BENCH_UPSTREAM is not set')
  return /^https?:/.test(BENCH_UPSTREAM)
    ? { url: BENCH_UPSTREAM }
    : { command: process.execPath, args: [BENCH_UPSTREAM] }
}
