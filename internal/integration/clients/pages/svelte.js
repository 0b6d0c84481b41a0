import * as auth from '@auth/sveltekit/client'
import { draw, read } from './plain.js'

draw(auth)
read('/auth')
