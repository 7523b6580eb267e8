import { render } from 'preact'
import { App } from './app.tsx'
import './style/index.css'
import { applyTheme } from './theme.ts'

applyTheme()
const place = document.getElementById('app')
if (place) render(<App />, place)
