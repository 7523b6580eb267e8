/**
 * Measures the longest turn of the event loop, in CPU time, which a busy machine does not lengthen, and in wall time.
 */

export interface EventLoopWatch {
  /** Returns whole milliseconds of the longest turn since the start. */
  stop(): { readonly cpuMs: number; readonly wallMs: number }
}

export function watchEventLoop(): EventLoopWatch {
  const spent = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let [cpu, wall] = [spent(), performance.now()]
  let [longestCpu, longestWall] = [0, 0]
  let isOver = false
  const look = (): void => {
    const [cpuNow, wallNow] = [spent(), performance.now()]
    longestCpu = Math.max(longestCpu, cpuNow - cpu)
    longestWall = Math.max(longestWall, wallNow - wall)
    cpu = cpuNow
    wall = wallNow
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return {
    stop() {
      isOver = true
      return { cpuMs: Math.ceil(longestCpu), wallMs: Math.ceil(longestWall) }
    },
  }
}
