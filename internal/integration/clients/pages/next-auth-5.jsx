import * as auth from 'next-auth/react'
import { show } from './react.jsx'

show(auth)
