<?php
namespace App\Console;

use App\Jobs\Note;
use App\Jobs\Poison;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Foundation\Console\Kernel as ConsoleKernel;
use Illuminate\Queue\Events\Looping;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\Queue;
use Illuminate\Support\Facades\Schema;

class Kernel extends ConsoleKernel
{
    protected function commands()
    {
        // A worker says when it has begun: one that starts hears of no restart that was asked for until then.
        $this->app['events']->listen(Looping::class, fn () => touch(storage_path('looping/'.getmypid())));
        $signature = 'shop:push {queue} {--count=1} {--delay=0} {--kind=note} {--seconds=0}';
        Artisan::command($signature, function () {
            for ($number = 0; $number < (int) $this->option('count'); $number++) {
                $job = $this->option('kind') === 'poison'
                    ? new Poison
                    : new Note($this->argument('queue'), (float) $this->option('seconds'));
                $delay = (int) $this->option('delay');
                $delay > 0
                    ? Queue::laterOn($this->argument('queue'), $delay, $job)
                    : Queue::pushOn($this->argument('queue'), $job);
            }
        });
        Artisan::command('shop:tables', function () {
            foreach (['jobs', 'failed_jobs', 'cache'] as $table) {
                Schema::dropIfExists($table);
            }
            Schema::create('jobs', function (Blueprint $table) {
                $table->bigIncrements('id');
                $table->string('queue')->index();
                $table->longText('payload');
                $table->unsignedTinyInteger('attempts');
                $table->unsignedInteger('reserved_at')->nullable();
                $table->unsignedInteger('available_at');
                $table->unsignedInteger('created_at');
            });
            Schema::create('failed_jobs', function (Blueprint $table) {
                $table->id();
                $table->string('uuid')->unique();
                $table->text('connection');
                $table->text('queue');
                $table->longText('payload');
                $table->longText('exception');
                $table->timestamp('failed_at')->useCurrent();
            });
            Schema::create('cache', function (Blueprint $table) {
                $table->string('key')->unique();
                $table->text('value');
                $table->integer('expiration');
            });
        });
    }
}
