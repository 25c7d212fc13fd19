#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Copyright (c) 2026 ringfence maintainers
//
// sell.js - a fenced section in Node, with ioredis and pg
//
//     sell.js LUA_FOLDER REDIS_SOCKET SKU [PAUSE_MS [ORDER]]
//
// Takes the lock by the published script, claims before it reads, thinks for
// PAUSE_MS and sells one for ORDER.  The database is the one that PGHOST,
// PGDATABASE and so on name.
//
// When nobody knows whether a commit landed, the same order is sent again in a
// new section: its receipt (ringfence.once) keeps it from being sold twice.
// Ends with
//
//     0   sold, now or by an earlier attempt
//     1   no lock: somebody else has it, or a server is away; try later
//     2   nothing is left
//     3   refused by the database: somebody else was newer, nothing was written.
//         Also when Redis came back from an old copy: "ringfence heal"
//     4   not known after all attempts: start it again with the same ORDER
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const Redis = require('ioredis');
const { Client } = require('pg');

const TTL_MS = 1000;
const TIMEOUT_MS = 2000;
const ATTEMPTS = 5;
const PREFIX = 'lock:v1:';
const REFUSED = ['RF001', 'RF002'];

class NoLock extends Error {} // not ours, and nothing was sent to the database
class Again extends Error {} // nothing landed, or nobody knows: a new section

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

    // Try once.  askFloor: what the database knows, for a lost counter.  What is
    // not answered ioredis sends again, with the same holder: that is told of
    // the grant whose answer was lost.
    async acquire(askFloor) {
        let floor = '?';
        for (;;) {
            const answer = await this.run('acquire', this.keys,
                [this.holder, TTL_MS, floor, 0, '', 'tag'])
                .catch((error) => { throw new NoLock(error.message); });
            if (answer[3] === 'NEEDS_FLOOR') {
                floor = await askFloor(this.resource);
                continue;
            }
            if (answer[3] !== 'OK' && answer[3] !== 'REPLAY')
                throw new NoLock(answer[3]);
            this.fence = answer[4];
            return;
        }
    }

    // Of another's lock, or one that is over, the script lets go by itself; and
    // nothing that may go wrong here matters: the lock runs out.
    async release() {
        const [lock, , wake, waiters] = this.keys;
        await this.run('release', [lock, wake, waiters],
            [this.holder, this.fence, 'tag'])
            .catch((error) => console.log(`not given back: ${error.message}`));
    }
}

// By code, never by text.  A connection that is gone tells nothing.
function judge(database, error) {
    const code = error.code || '';
    if (error instanceof NoLock || REFUSED.includes(code)) return error;
    return database.gone || code.startsWith('40') ? new Again(error.message) : error;
}

// One transaction of the section: the claim first, a statement of its own.
// work() answers what is to be returned.
async function fenced(database, lock, work) {
    try {
        await database.query('BEGIN');
        await database.query('SELECT ringfence.guard($1, $2, $3)',
            [lock.resource, lock.fence, lock.holder]);
        const result = await work();
        await database.query('COMMIT');
        return result;
    } catch (error) {
        // On a connection that is gone it can't be, and need not.
        await database.query('ROLLBACK').catch(() => {});
        throw error;
    }
}

async function sell(database, lock, sku, pauseMs, order) {
    const remaining = await fenced(database, lock, async () => {
        const found = await database.query(
            'SELECT remaining FROM stock WHERE sku = $1', [sku]);
        return found.rowCount === 1 ? found.rows[0].remaining : 0;
    });
    console.log(`fence ${lock.fence} reads ${remaining}`);
    if (remaining === 0) return 2;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    // False: an earlier attempt has done it, whose answer was lost.
    const sold = await fenced(database, lock, async () => {
        const receipt = await database.query(
            'SELECT ringfence.once($1, $2) AS first', [lock.resource, order]);
        if (!receipt.rows[0].first) return false;
        await database.query(
            'UPDATE stock SET remaining = $1, fence = ringfence.fence($2) WHERE sku = $3',
            [remaining - 1, lock.resource, sku]);
        return true;
    });
    console.log(sold ? `fence ${lock.fence} writes ${remaining - 1}`
        : `${order} was sold before`);
    return 0;
}

// Lock, claim, read, think, write, release.
async function section(server, database, folder, sku, pauseMs, order) {
    const lock = new Lock(server, folder, `stock:${sku}`);
    try {
        await lock.acquire(async (resource) => (await database.query(
            'SELECT ringfence.high_water($1) AS fence', [resource])).rows[0].fence);
        return await sell(database, lock, sku, pauseMs, order);
    } catch (error) {
        if (!REFUSED.includes(error.code)) throw judge(database, error);
        console.log(`fence ${lock.fence} is refused: ${error.code} ${error.message}`);
        return 3;
    } finally {
        if (lock.fence !== null) await lock.release();
    }
}

async function connect() {
    const database = new Client({ host: process.env.PGHOST });
    // Without a listener a connection that breaks would end the program.
    database.on('error', () => { database.gone = true; });
    database.on('end', () => { database.gone = true; });
    await database.connect();
    return database;
}

async function main(folder, socket, sku, pauseMs = '0', order = undefined) {
    const server = new Redis({ path: socket, maxRetriesPerRequest: 1,
        commandTimeout: TIMEOUT_MS });
    const name = order || `order ${crypto.randomBytes(8).toString('hex')}`;
    let inDoubt = false;
    server.on('error', (error) => console.log(`Redis: ${error.message}`));
    try {
        for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
            await new Promise((resolve) => setTimeout(resolve, attempt * TTL_MS));
            const database = await connect().catch((error) => {
                console.log(`no database: ${error.message}`);
            });
            if (!database) continue;
            try {
                return await section(server, database, folder, sku,
                    Number(pauseMs), name);
            } catch (error) {
                if (error instanceof NoLock) {
                    console.log(`no lock: ${error.message}`);
                    // After an unknown outcome somebody has to find out.
                    if (!inDoubt) return 1;
                } else if (error instanceof Again) {
                    console.log(`${name}: once more: ${error.message}`);
                    inDoubt = true;
                } else {
                    throw error;
                }
            } finally {
                await database.end().catch(() => {});
            }
        }
        return inDoubt ? 4 : 1;
    } finally {
        server.disconnect();
    }
}

main(...process.argv.slice(2)).then((code) => { process.exitCode = code; });
