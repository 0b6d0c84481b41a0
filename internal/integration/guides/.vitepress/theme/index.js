import DefaultTheme from 'vitepress/theme'
import { useData, useRoute } from 'vitepress'
import { nextTick, onMounted, watch } from 'vue'
import script from '@mermaid-js/tiny/dist/mermaid.tiny.js?url'
import './guides.css'

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute()
    const { isDark } = useData()
    onMounted(() => watch([() => route.path, isDark], () => nextTick(() => draw(isDark.value)), { immediate: true }))
  },
}

let loading

// load fetches the program for diagrams, on the first page that has one.
function load() {
  loading ??= new Promise((resolve, reject) => {
    const element = document.createElement('script')
    element.src = script
    element.onload = () => resolve(globalThis.mermaid)
    element.onerror = reject
    document.head.append(element)
  })
  return loading
}

// draw replaces the text of each diagram by the diagram, in the colours of the page.
async function draw(dark) {
  const diagrams = [...document.querySelectorAll('pre.mermaid')]
  if (diagrams.length === 0) return
  const mermaid = await load()
  mermaid.initialize({ startOnLoad: false, theme: dark ? 'dark' : 'default', fontFamily: 'inherit' })
  for (const [i, diagram] of diagrams.entries()) {
    diagram.dataset.text ??= diagram.textContent
    const { svg } = await mermaid.render(`diagram-${i}`, diagram.dataset.text)
    diagram.innerHTML = svg
  }
}
