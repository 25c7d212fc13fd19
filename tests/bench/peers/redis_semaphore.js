// SPDX-License-Identifier: MIT
// Copyright (c) 2026 ringfence maintainers
//
// redis_semaphore.js PORT - the Mutex of redis-semaphore, as a contestant of
// peers.c.  Without its renewals, which the others do not make either.
'use strict'

const { Mutex } = require('redis-semaphore')

require('./contest')(client => async () => {
  const mutex = new Mutex(client, 'peer:redis-semaphore', {
    lockTimeout: 30000,
    refreshInterval: 0,
    acquireAttemptsLimit: 1
  })
  await mutex.acquire()
  await mutex.release()
})
