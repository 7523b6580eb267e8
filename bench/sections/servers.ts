/** The figures of the servers, one file each: `npm run bench -- servers`. */
import type { Section } from '../lib/figures.ts'
import { fitness } from './servers/fitness.ts'
import { knowledge } from './servers/knowledge.ts'
import { memory } from './servers/memory.ts'
import { memoryEmbeddings } from './servers/memory-embeddings.ts'

const all: Record<string, () => Promise<Section>> = { knowledge, memory, memoryEmbeddings, fitness }

export async function servers(): Promise<Section> {
  const figures: Record<string, unknown> = {}
  const sections: Section[] = []
  for (const [name, run] of Object.entries(all)) {
    const section = await run()
    figures[name] = section.figures
    sections.push(section)
  }
  return {
    figures,
    tables: sections.flatMap(({ tables }) => tables),
    goals: sections.flatMap(({ goals }) => goals),
  }
}
