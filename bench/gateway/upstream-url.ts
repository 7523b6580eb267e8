/** The address of the upstream, which the section sets before it starts a proxy or gateway. */
export function upstreamUrl(): string {
  const { BENCH_UPSTREAM } = process.env
  if (BENCH_UPSTREAM === undefined) throw new Error('BENCH_UPSTREAM is not set')
  return BENCH_UPSTREAM
}
