import { auth } from '../auth.js'

export default async function Home() {
  return <h1>{(await auth()) ? 'Somebody is here' : 'Nobody is here'}</h1>
}
