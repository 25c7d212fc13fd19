#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Copyright (c) 2026 ringfence maintainers
//
// sell.js - a fenced section in Node, with ioredis and pg
//
//     sell.js LUA_FOLDER REDIS_SOCKET SKU [PAUSE_MS]
//
// Takes the lock by the published script, claims before it reads, thinks for
// PAUSE_MS and sells one.  The database is the one that PGHOST, PGDATABASE and
// so on name.  Ends with 0 when it has sold, with 3 when the database refused
// it: then somebody else was newer, and nothing was written.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const Redis = require('ioredis');
const { Client } = require('pg');

const TTL_MS = 1000;
const PREFIX = 'lock:v1:';
const REFUSED = ['RF001', 'RF002'];

class Lock {
    constructor(server, folder, resource) {
        const key = `{${PREFIX}${resource}}`;
        this.server = server;
        this.folder = folder;
        this.resource = resource;
        this.keys = [key, `${key}:fence`, `${key}:wake`, `${key}:waiters`];
        this.holder = crypto.randomBytes(16).toString('hex');
        this.fence = null; // text: a number of JavaScript ends at 2^53
    }

    // By digest first, by text when Redis does not know it.
    async run(name, keys, args) {
        const text = fs.readFileSync(`${this.folder}/${name}.lua`, 'utf8');
        const digest = crypto.createHash('sha1').update(text).digest('hex');
        try {
            return await this.server.evalsha(digest, keys.length, ...keys, ...args);
        } catch (error) {
            if (!error.message.startsWith('NOSCRIPT')) throw error;
            return this.server.eval(text, keys.length, ...keys, ...args);
        }
    }

    // Try once.  askFloor: what the database knows, for a lost counter.
    async acquire(askFloor) {
        let floor = '?';
        for (;;) {
            const answer = await this.run('acquire', this.keys,
                [this.holder, TTL_MS, floor, 0, '', 'tag']);
            if (answer[3] === 'NEEDS_FLOOR') {
                floor = await askFloor(this.resource);
                continue;
            }
            if (answer[3] !== 'OK' && answer[3] !== 'REPLAY')
                throw new Error(`no lock: ${answer[3]}`);
            this.fence = answer[4];
            return;
        }
    }

    async release() {
        const [lock, , wake, waiters] = this.keys;
        await this.run('release', [lock, wake, waiters],
            [this.holder, this.fence, 'tag']);
    }
}

// One transaction of the section: the claim first, a statement of its own.
async function fenced(database, lock, statement, values) {
    await database.query('BEGIN');
    try {
        await database.query('SELECT ringfence.guard($1, $2, $3)',
            [lock.resource, lock.fence, lock.holder]);
        const result = await database.query(statement, values);
        await database.query('COMMIT');
        return result;
    } catch (error) {
        await database.query('ROLLBACK');
        throw error;
    }
}

async function sell(database, lock, sku, pauseMs) {
    const found = await fenced(database, lock,
        'SELECT remaining FROM stock WHERE sku = $1', [sku]);
    const { remaining } = found.rows[0];
    console.log(`fence ${lock.fence} reads ${remaining}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await fenced(database, lock,
        'UPDATE stock SET remaining = $1, fence = ringfence.fence($2) WHERE sku = $3',
        [remaining - 1, lock.resource, sku]);
    console.log(`fence ${lock.fence} writes ${remaining - 1}`);
}

async function main(folder, socket, sku, pauseMs = '0') {
    const server = new Redis({ path: socket });
    const database = new Client({ host: process.env.PGHOST });
    const lock = new Lock(server, folder, `stock:${sku}`);
    const askFloor = async (resource) => (await database.query(
        'SELECT ringfence.high_water($1) AS fence', [resource])).rows[0].fence;

    await database.connect();
    try {
        await lock.acquire(askFloor);
        await sell(database, lock, sku, Number(pauseMs));
        await lock.release();
        return 0;
    } catch (error) {
        if (!REFUSED.includes(error.code)) throw error;
        console.log(`fence ${lock.fence} is refused: ${error.code} ${error.message}`);
        return 3;
    } finally {
        server.disconnect();
        await database.end();
    }
}

main(...process.argv.slice(2)).then((code) => { process.exitCode = code; });
