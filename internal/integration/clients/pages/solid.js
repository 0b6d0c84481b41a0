import * as auth from '@auth/solid-start/client'
import { draw, read } from './plain.js'

draw(auth)
read('/api/auth')
