import { buttons } from './buttons.js'

/** Draws the page for clients that only have functions. */
export function draw(auth) {
  document.body.innerHTML = '<main><h1></h1><p id="status">loading</p><pre id="session"></pre></main>'
  document.querySelector('h1').textContent = document.title
  for (const [label, press] of Object.entries(buttons(auth))) {
    const button = document.createElement('button')
    button.textContent = label
    button.onclick = press
    document.querySelector('main').append(button)
  }
}

/** Writes the session on the page. */
export function tell(session) {
  document.querySelector('#status').textContent = session ? 'authenticated' : 'unauthenticated'
  document.querySelector('#session').textContent = JSON.stringify(session, null, 2)
}

/** Writes the session on the page for clients that leave it to the application to read it. */
export async function read(base) {
  tell(await (await fetch(`${base}/session`)).json())
}
