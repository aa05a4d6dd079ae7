<?php
return [
    'default' => env('CACHE_DRIVER', 'file'),
    'stores' => [
        'array' => ['driver' => 'array', 'serialize' => false],
        'file' => ['driver' => 'file', 'path' => storage_path('framework/cache/data')],
        'redis' => ['driver' => 'redis', 'connection' => 'cache'],
        'database' => ['driver' => 'database', 'table' => 'cache', 'connection' => null],
    ],
    'prefix' => Illuminate\Support\Str::slug(env('APP_NAME', 'laravel'), '_').'_cache',
];
