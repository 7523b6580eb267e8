/**
 * Renders an SVG as PNG, because clients show no SVG. It takes a hundred milliseconds, so it runs in a thread. The font
 * comes with it: many servers have none.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

export const fontFamily = 'Be Vietnam Pro'

const require = createRequire(import.meta.url)
const bytesOf = (path: string): Buffer => readFileSync(require.resolve(path))
const fontFile = (weight: string): Buffer =>
  bytesOf(`@expo-google-fonts/be-vietnam-pro/${weight}/BeVietnamPro_${weight}.ttf`)

let fonts: Promise<readonly Buffer[]> | undefined

async function load(): Promise<readonly Buffer[]> {
  await initWasm(bytesOf('@resvg/resvg-wasm/index_bg.wasm'))
  return [fontFile('400Regular'), fontFile('600SemiBold')]
}

/** Half as large again as the SVG, for screens with small pixels. */
export async function toPng(svg: string): Promise<Uint8Array> {
  fonts ??= load()
  const resvg = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: 1.5 },
    font: { fontBuffers: [...(await fonts)], defaultFontFamily: fontFamily },
  })
  try {
    return resvg.render().asPng()
  } finally {
    resvg.free()
  }
}
